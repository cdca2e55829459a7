// Calls a solution's function: reads arguments as JSON, writes the result as JSON.
//
// Standard input has a word of the judge on its first line, then an argument a line. They are read
// and removed before any code of the solution runs. The result goes to a descriptor of its own,
// between the judge's word and the same word again: what the solution writes there is no result.

#if __has_include(<bits/stdc++.h>)
#include <bits/stdc++.h>
#else
#include <algorithm>
#include <array>
#include <bitset>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#line 1 "driver"
namespace harness_driver {

enum { RESULT = 6 };
enum class Rule { returned, in_place, everything };
struct Nothing {};
template <class T> constexpr bool never = false;

static char *text, *at, *end;
static char *word;
static size_t word_size;
static int argument;

[[noreturn]] static void refuse(const char *why) {
    fprintf(stderr, "argument %d: %s\n", argument, why);
    fflush(nullptr);
    _exit(1);
}

[[noreturn]] static void refuse_number(const char *number) {
    size_t size = std::min(strcspn(number, ",] \t\r\n"), size_t(40));
    std::string shown(number, size);
    refuse((shown + " does not fit into the type that the solution declares").c_str());
}

__attribute__((constructor(101))) static void take_input() {
    struct stat state;
    if (fstat(0, &state)) _exit(1);
    size_t size = static_cast<size_t>(state.st_size), done = 0;
    text = static_cast<char *>(malloc(size + 1));
    if (!text) _exit(1);
    for (ssize_t got; done < size; done += static_cast<size_t>(got)) {
        got = pread(0, text + done, size - done, static_cast<off_t>(done));
        if (got <= 0) _exit(1);
    }
    text[size] = 0;
    end = text + size;
    at = static_cast<char *>(memchr(text, '\n', size));
    if (!at) _exit(1);
    word_size = static_cast<size_t>(at - text);
    word = static_cast<char *>(malloc(word_size));
    if (!word) _exit(1);
    memcpy(word, text, word_size);
    memset(text, ' ', word_size);
    if (ftruncate(0, 0)) lseek(0, 0, SEEK_END);
}

static void skip() {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) ++at;
}

static bool take(char wanted) {
    skip();
    if (at >= end || *at != wanted) return false;
    ++at;
    return true;
}

static unsigned code_unit() {
    if (end - at < 4) refuse("a string that is not JSON");
    unsigned unit = 0;
    for (int n = 0; n < 4; ++n, ++at) {
        char c = *at;
        unsigned digit = c <= '9' ? unsigned(c - '0') : (unsigned(c | 32) - 'a' + 10);
        unit = unit * 16 + (digit & 15);
    }
    return unit;
}

static void put_character(std::string &target, unsigned code) {
    if (code < 0x80) {
        target += char(code);
    } else if (code < 0x800) {
        target += char(0xc0 | (code >> 6));
        target += char(0x80 | (code & 63));
    } else if (code < 0x10000) {
        target += char(0xe0 | (code >> 12));
        target += char(0x80 | ((code >> 6) & 63));
        target += char(0x80 | (code & 63));
    } else {
        target += char(0xf0 | (code >> 18));
        target += char(0x80 | ((code >> 12) & 63));
        target += char(0x80 | ((code >> 6) & 63));
        target += char(0x80 | (code & 63));
    }
}

static std::string take_string() {
    std::string value;
    if (!take('"')) refuse("the solution declares another type than the starter code");
    while (at < end && *at != '"') {
        if (*at != '\\') {
            value += *at++;
            continue;
        }
        if (++at >= end) break;
        char c = *at++;
        switch (c) {
        case 'n': value += '\n'; break;
        case 't': value += '\t'; break;
        case 'r': value += '\r'; break;
        case 'b': value += '\b'; break;
        case 'f': value += '\f'; break;
        case 'u': {
            unsigned code = code_unit();
            if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
                char *before = at;
                at += 2;
                unsigned low = code_unit();
                if (low >= 0xdc00 && low < 0xe000) {
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                } else {
                    at = before;
                }
            }
            put_character(value, code);
            break;
        }
        default: value += c;
        }
    }
    if (at >= end) refuse("a string that is not JSON");
    ++at;
    return value;
}

template <class T> struct Is_vector : std::false_type {};
template <class T, class A> struct Is_vector<std::vector<T, A>> : std::true_type {};

template <class T> T take_value() {
    skip();
    if constexpr (std::is_same_v<T, bool>) {
        bool value = end - at >= 4 && !memcmp(at, "true", 4);
        if (!value && (end - at < 5 || memcmp(at, "false", 5)))
            refuse("the solution declares another type than the starter code");
        at += value ? 4 : 5;
        return value;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return take_string();
    } else if constexpr (std::is_same_v<T, char>) {
        std::string value = take_string();
        if (value.size() != 1) refuse("it is longer than the char that the solution declares");
        return value[0];
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(long long)) {
        char *stop = at;
        errno = 0;
        if (at >= end || (*at != '-' && (*at < '0' || *at > '9')))
            refuse("the solution declares another type than the starter code");
        bool fits;
        T result;
        if constexpr (std::is_unsigned_v<T>) {
            unsigned long long value = strtoull(at, &stop, 10);
            result = static_cast<T>(value);
            fits = *at != '-' && value <= std::numeric_limits<T>::max();
        } else {
            long long value = strtoll(at, &stop, 10);
            result = static_cast<T>(value);
            fits = value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
        }
        if (errno || !fits || *stop == '.' || *stop == 'e' || *stop == 'E')
            refuse_number(at);
        at = stop;
        return result;
    } else if constexpr (std::is_floating_point_v<T>) {
        char *stop = at;
        double value = strtod(at, &stop);
        if (stop == at) refuse("the solution declares another type than the starter code");
        at = stop;
        return static_cast<T>(value);
    } else if constexpr (Is_vector<T>::value) {
        T value;
        if (!take('[')) refuse("the solution declares another type than the starter code");
        if (take(']')) return value;
        do value.push_back(take_value<typename T::value_type>());
        while (take(','));
        if (!take(']')) refuse("a list that is not JSON");
        return value;
    } else {
        static_assert(never<T>, "a parameter of the solution has a type that is not supported");
    }
}

template <class T> void put_value(std::string &target, const T &value) {
    if constexpr (std::is_same_v<T, bool>) {
        target += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, char>) {
        put_value(target, std::string(1, value));
    } else if constexpr (std::is_same_v<T, std::string>) {
        target += '"';
        for (char c : value) {
            if (c == '"' || c == '\\') {
                target += '\\';
                target += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                char escaped[8];
                snprintf(escaped, sizeof escaped, "\\u%04x", c);
                target += escaped;
            } else {
                target += c;
            }
        }
        target += '"';
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(long long)) {
        target += std::to_string(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        double number = static_cast<double>(value);
        if (number != number) {
            target += "NaN";
        } else if (number - number != 0) {
            target += number > 0 ? "Infinity" : "-Infinity";
        } else {
            char digits[40];
            for (int precision = 15; precision <= 17; ++precision) {
                snprintf(digits, sizeof digits, "%.*g", precision, number);
                if (strtod(digits, nullptr) == number) break;
            }
            target += digits;
            if (!strpbrk(digits, ".e")) target += ".0";
        }
    } else if constexpr (Is_vector<T>::value) {
        target += '[';
        bool first = true;
        for (const auto &item : value) {
            if (!first) target += ',';
            first = false;
            put_value<typename T::value_type>(target, item);
        }
        target += ']';
    } else {
        static_assert(never<T>, "the solution returns a type that is not supported");
    }
}

static void write_all(const std::string &data) {
    size_t done = 0;
    while (done < data.size()) {
        ssize_t put = pwrite(RESULT, data.data() + done, data.size() - done,
                             static_cast<off_t>(done));
        if (put <= 0) _exit(1);
        done += static_cast<size_t>(put);
    }
}

template <class R, class T> void answer(Rule rule, const R *result, T &arguments) {
    std::string data(word, word_size);
    data += '\n';
    if (rule == Rule::everything) data += '[';
    if constexpr (!std::is_same_v<R, Nothing>) {
        put_value<R>(data, *result);
    } else if constexpr (std::tuple_size_v<T> > 0) {
        if (rule == Rule::in_place) put_value(data, std::get<0>(arguments));
        else data += "null";
    }
    if (rule == Rule::everything) {
        data += ",[";
        std::apply(
            [&](const auto &...each) {
                int n = 0;
                ((data += n++ ? "," : "", put_value(data, each)), ...);
            },
            arguments);
        data += "]]";
    }
    data += '\n';
    data.append(word, word_size);
    std::cout.flush();
    fflush(nullptr);
    if (ftruncate(RESULT, 0)) _exit(1);
    write_all(data);
    _exit(0);
}

template <class T> T take_argument() {
    ++argument;
    return take_value<T>();
}

template <Rule rule, class T, class F> void finish(T &arguments, F function) {
    using R = std::decay_t<decltype(std::apply(function, arguments))>;
    if constexpr (std::is_void_v<R>) {
        static_assert(rule != Rule::returned, "the function must return its result");
        std::apply(function, arguments);
        answer<Nothing>(rule, nullptr, arguments);
    } else {
        R result = std::apply(function, arguments);
        answer<R>(rule, &result, arguments);
    }
}

template <class Call, class S, class Types, class = void> struct Called : std::false_type {};
template <class Call, class S, class... A>
struct Called<Call, S, std::tuple<A...>,
              std::void_t<decltype(Call::call(std::declval<S &>(), std::declval<A &>()...))>>
    : std::true_type {};

template <Rule rule, class Call, class S, class... A> void call_declared(S &solution) {
    std::tuple<A...> arguments{take_argument<A>()...};
    finish<rule>(arguments, [&](A &...each) -> decltype(auto) { return Call::call(solution, each...); });
}

template <class T> struct Narrow { using type = T; };
template <> struct Narrow<long long> { using type = int; };
template <class T> struct Narrow<std::vector<T>> {
    using type = std::vector<typename Narrow<T>::type>;
};

template <class T>
struct Readable
    : std::bool_constant<std::is_same_v<T, std::string> || std::is_floating_point_v<T> ||
                         (std::is_integral_v<T> && sizeof(T) <= sizeof(long long))> {};
template <class T, class A> struct Readable<std::vector<T, A>> : Readable<T> {};

// How the argument of a parameter of the type B is read and passed. What cannot be read itself, as
// a span, is made of the starter code's type A, or of the narrower one that LeetCode has for it.
template <class A, class B> struct Parameter {
    using Own = std::decay_t<B>;
    using Made = std::conditional_t<std::is_convertible_v<A &, B>, A, typename Narrow<A>::type>;
    static constexpr bool is_made = !Readable<Own>::value && std::is_convertible_v<Made &, B>;
    using Read = std::conditional_t<is_made, Made, Own>;
    using Passed = std::conditional_t<!is_made && std::is_rvalue_reference_v<B>, B, Read &>;
};

template <Rule rule, class Call, class S, class... P> void call_method(S &solution) {
    std::tuple<typename P::Read...> arguments{take_argument<typename P::Read>()...};
    finish<rule>(arguments, [&](typename P::Read &...each) -> decltype(auto) {
        return Call::call(solution, static_cast<typename P::Passed>(each)...);
    });
}

template <class R, class C, class... B> std::tuple<B...> parameters(R (C::*)(B...));
template <class R, class C, class... B> std::tuple<B...> parameters(R (C::*)(B...) const);
template <class R, class... B> std::tuple<B...> parameters(R (*)(B...));

template <class Call, class S>
using Parameters = decltype(parameters(Call::template method<S>()));
template <class Call, class S, class = void> struct Has_method : std::false_type {};
template <class Call, class S>
struct Has_method<Call, S, std::void_t<Parameters<Call, S>>> : std::true_type {};

// Parameters after those of the starter code have defaults.
template <Rule rule, class Call, class S, class... A, size_t... n>
void deduced(S &solution, std::index_sequence<n...>) {
    using All = Parameters<Call, S>;
    if constexpr (sizeof...(A) <= std::tuple_size_v<All>) {
        call_method<rule, Call, S, Parameter<A, std::tuple_element_t<n, All>>...>(solution);
    } else {
        static_assert(never<S>, "the function takes another number of arguments");
    }
}

template <class Call, class S, Rule rule, class... A> int run() {
    S &solution = *new S();
    if constexpr (Called<Call, S, std::tuple<A...>>::value) {
        call_declared<rule, Call, S, A...>(solution);
    } else if constexpr (Has_method<Call, S>::value) {
        deduced<rule, Call, S, A...>(solution, std::index_sequence_for<A...>());
    } else if constexpr (Called<Call, S, std::tuple<typename Narrow<A>::type...>>::value) {
        call_declared<rule, Call, S, typename Narrow<A>::type...>(solution);
    } else {
        static_assert(never<S>, "the solution does not define the function of the starter code");
    }
    return 0;
}

}  // namespace harness_driver

using namespace std;
