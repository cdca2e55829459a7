"""Right C++ solutions of real LiveCodeBench functions are accepted."""

# ruff: noqa: E501

import os
from pathlib import Path

import pytest

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.languages.cpp import compiler
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

ROWS = Path(DATA) / "lcb_codegen_full184" / "test_small.jsonl"
SOLUTIONS = {
    "2727": "class Solution {\npublic:\n    int countSeniors(vector<string>& d) { int r=0; for(auto&s:d) r+= stoi(s.substr(11,2))>60; return r; }\n};\n",
    "2756": "class Solution {\npublic:\n    int buyChoco(vector<int>& p, int m) { sort(p.begin(),p.end()); int c=p[0]+p[1]; return c<=m? m-c : m; }\n};\n",
    "2777": "class Solution {\npublic:\n    vector<int> distinctDifferenceArray(vector<int>& a) { vector<int> r; for(size_t i=0;i<a.size();++i){ set<int> x(a.begin(),a.begin()+i+1), y(a.begin()+i+1,a.end()); r.push_back((int)x.size()-(int)y.size());} return r; }\n};\n",
    "2791": "class Solution {\npublic:\n    vector<long long> circularGameLosers(long long n, long long k) { vector<bool> v(n); long long p=0; for(long long i=1;!v[p];++i){v[p]=true;p=(p+i*k)%n;} vector<long long> r; for(int i=0;i<n;++i) if(!v[i]) r.push_back(i+1); return r; }\n};\n",
    "2792": "class Solution {\npublic:\n    bool doesValidArrayExist(vector<long long>& d) { int x=0; for(auto e:d) x^=e; return x==0; }\n};\n",
    "2800": "class Solution {\npublic:\n    int minLength(string s) { string t; for(char c:s){ if(!t.empty() && ((t.back()=='A'&&c=='B')||(t.back()=='C'&&c=='D'))) t.pop_back(); else t+=c;} return t.size(); }\n};\n",
    "2816": "class Solution {\npublic:\n    string makeSmallestPalindrome(string s) { for(int i=0,j=s.size()-1;i<j;++i,--j) s[i]=s[j]=min(s[i],s[j]); return s; }\n};\n",
    "2819": "class Solution {\npublic:\n    string removeTrailingZeros(string n) { while(n.size()>1&&n.back()=='0') n.pop_back(); return n; }\n};\n",
    "2881": "class Solution {\npublic:\n    vector<string> splitWordsBySeparator(vector<string>& w, char sep) { vector<string> r; for(auto&s:w){string t; stringstream q(s); while(getline(q,t,sep)) if(!t.empty()) r.push_back(t);} return r; }\n};\n",
    "2977": "class Solution {\npublic:\n    bool isAcronym(vector<string>& w, string s) { string t; for(auto&x:w) t+=x[0]; return t==s; }\n};\n",
    "3034": "class Solution {\npublic:\n    int numberOfPoints(vector<vector<int>>& n) { set<int> s; for(auto&v:n) for(int i=v[0];i<=v[1];++i) s.insert(i); return s.size(); }\n};\n",
    "3188": "class Solution {\npublic:\n    int findChampion(vector<vector<int>>& g) { int n=g.size(); for(int i=0;i<n;++i){int c=0; for(int j=0;j<n;++j) c+=g[i][j]; if(c==n-1) return i;} return -1; }\n};\n",
    "3195": "class Solution {\npublic:\n    long long minimumSteps(string s) { long long r=0,o=0; for(char c:s) if(c=='1') ++o; else r+=o; return r; }\n};\n",
    "3194": "class Solution {\npublic:\n    vector<int> findWordsContaining(vector<string>& w, string x) { vector<int> r; for(int i=0;i<(int)w.size();++i) if(w[i].find(x)!=string::npos) r.push_back(i); return r; }\n};\n",
    "3226": "class Solution {\npublic:\n    vector<int> numberGame(vector<int>& a) { sort(a.begin(),a.end()); for(size_t i=0;i+1<a.size();i+=2) swap(a[i],a[i+1]); return a; }\n};\n",
    "3324": "class Solution {\npublic:\n    bool isPossibleToSplit(vector<int>& a) { map<int,int> m; for(int x:a) if(++m[x]>2) return false; return true; }\n};\n",
}


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    """The problems by LeetCode's number."""
    return {each.native_id: each for each in load(f"livecodebench:{ROWS}").problems}


@pytest.mark.parametrize("number", SOLUTIONS)
def test_a_right_solution_of_a_real_row_is_accepted(
    shared_worker: Worker, problems: dict[str, Problem], number: str
) -> None:
    asked = problems[number]
    task = Options(language="cpp").task(asked, SOLUTIONS[number], asked.tests.all())
    grade = judge(shared_worker, task)
    assert grade.verdict is Verdict.ACCEPTED, [each for each in grade.tests if not each.passed][:1]
