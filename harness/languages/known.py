"""The languages there are, by name, ending of a file, and fence."""

from harness import registry
from harness.languages.language import Language

LANGUAGES: dict[str, Language] = {
    name: registry.resolve(target) for name, target in registry.LANGUAGES.items()
}


def language(name: str) -> Language:
    """Return a language by its name. Raises ValueError for an unknown one."""
    try:
        return LANGUAGES[name]
    except KeyError:
        known = ", ".join(LANGUAGES)
        raise ValueError(f"unknown language {name!r}; known: {known}") from None


def named(word: str) -> Language | None:
    """Return the language that data sets mean by a word; None if there is none."""
    word = word.strip().lower()
    return next((each for each in LANGUAGES.values() if word in {each.name, *each.fences}), None)


def of_words(text: str) -> Language | None:
    """Return the language whose name a sentence has; None if there is none."""
    return next((each for each in LANGUAGES.values() if each.title in text), None)


def of_file(name: str) -> Language | None:
    """Return the language of a file by its ending; None if there is none."""
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    return next((each for each in LANGUAGES.values() if ending in each.endings), None)
