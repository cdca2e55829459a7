"""C++ solutions of real LiveCodeBench functions: right ones are accepted, wrong ones are not."""

# ruff: noqa: E501

import os
from pathlib import Path

import pytest

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import Problem
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import load

DATA = os.environ.get("HARNESS_TEST_DATA")
if DATA is None:
    pytest.skip("HARNESS_TEST_DATA names no real rows", allow_module_level=True)
try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

pytestmark = pytest.mark.thorough  # compiles each twice
ROWS = Path(DATA) / "lcb_codegen_full184" / "test_small.jsonl"
SOLUTIONS = {
    "2727": "int countSeniors(vector<string>& d) { int r=0; for(auto&s:d) r+= stoi(s.substr(11,2))>60; return r; }",
    "2756": "int buyChoco(vector<int>& p, int m) { sort(p.begin(),p.end()); int c=p[0]+p[1]; return c<=m? m-c : m; }",
    "2777": "vector<int> distinctDifferenceArray(vector<int>& a) { vector<int> r; for(size_t i=0;i<a.size();++i){ set<int> x(a.begin(),a.begin()+i+1), y(a.begin()+i+1,a.end()); r.push_back((int)x.size()-(int)y.size());} return r; }",
    "2791": "vector<long long> circularGameLosers(long long n, long long k) { vector<bool> v(n); long long p=0; for(long long i=1;!v[p];++i){v[p]=true;p=(p+i*k)%n;} vector<long long> r; for(int i=0;i<n;++i) if(!v[i]) r.push_back(i+1); return r; }",
    "2792": "bool doesValidArrayExist(vector<long long>& d) { int x=0; for(auto e:d) x^=e; return x==0; }",
    "2800": "int minLength(string s) { string t; for(char c:s){ if(!t.empty() && ((t.back()=='A'&&c=='B')||(t.back()=='C'&&c=='D'))) t.pop_back(); else t+=c;} return t.size(); }",
    "2816": "string makeSmallestPalindrome(string s) { for(int i=0,j=s.size()-1;i<j;++i,--j) s[i]=s[j]=min(s[i],s[j]); return s; }",
    "2819": "string removeTrailingZeros(string n) { while(n.size()>1&&n.back()=='0') n.pop_back(); return n; }",
    "2881": "vector<string> splitWordsBySeparator(vector<string>& w, char sep) { vector<string> r; for(auto&s:w){string t; stringstream q(s); while(getline(q,t,sep)) if(!t.empty()) r.push_back(t);} return r; }",
    "2977": "bool isAcronym(vector<string>& w, string s) { string t; for(auto&x:w) t+=x[0]; return t==s; }",
    "3034": "int numberOfPoints(vector<vector<int>>& n) { set<int> s; for(auto&v:n) for(int i=v[0];i<=v[1];++i) s.insert(i); return s.size(); }",
    "3188": "int findChampion(vector<vector<int>>& g) { int n=g.size(); for(int i=0;i<n;++i){int c=0; for(int j=0;j<n;++j) c+=g[i][j]; if(c==n-1) return i;} return -1; }",
    "3195": "long long minimumSteps(string s) { long long r=0,o=0; for(char c:s) if(c=='1') ++o; else r+=o; return r; }",
    "3194": "vector<int> findWordsContaining(vector<string>& w, string x) { vector<int> r; for(int i=0;i<(int)w.size();++i) if(w[i].find(x)!=string::npos) r.push_back(i); return r; }",
    "3226": "vector<int> numberGame(vector<int>& a) { sort(a.begin(),a.end()); for(size_t i=0;i+1<a.size();i+=2) swap(a[i],a[i+1]); return a; }",
    "3324": "bool isPossibleToSplit(vector<int>& a) { map<int,int> m; for(int x:a) if(++m[x]>2) return false; return true; }",
}
"""The method that solves a problem, by LeetCode's number."""
FAULTS = {
    "2727": (">60", "<60"),
    "2756": ("p[0]+p[1]", "p[0]+p[0]"),
    "2777": ("-(int)y.size()", ""),
    "2791": ("i*k", "k"),
    "2792": ("x==0", "x!=0"),
    "2800": ("t.back()=='C'", "t.back()=='X'"),
    "2816": ("min(s", "max(s"),
    "2819": ("=='0'", "=='9'"),
    "2881": ("if(!t", "if(t"),
    "2977": ("t==s", "t!=s"),
    "3034": ("<=v[1]", "<v[1]"),
    "3188": ("c==n-1", "c==0"),
    "3195": ("c=='1'", "c=='0'"),
    "3194": ("!=string", "==string"),
    "3226": ("swap(a[i],a[i+1])", "a[i]"),
    "3324": (">2", ">1"),
}
"""A part of each, and what makes it wrong in its place."""


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    """The problems by LeetCode's number."""
    return {each.native_id: each for each in load(f"livecodebench:{ROWS}").problems}


def _verdict(worker: Worker, problem: Problem, method: str) -> Verdict:
    code = f"class Solution {{\npublic:\n    {method}\n}};\n"
    return judge(worker, Options(language="cpp").task(problem, code, problem.tests.all())).verdict


@pytest.mark.parametrize("number", SOLUTIONS)
def test_a_right_solution_of_a_real_row_is_accepted_and_a_wrong_one_is_not(
    worker: Worker, problems: dict[str, Problem], number: str
) -> None:
    right, (part, fault) = SOLUTIONS[number], FAULTS[number]
    assert part in right
    assert _verdict(worker, problems[number], right) is Verdict.ACCEPTED
    wrong = right.replace(part, fault)
    assert _verdict(worker, problems[number], wrong) is Verdict.WRONG_ANSWER
