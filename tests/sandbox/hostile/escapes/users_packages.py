import sys

sys.path.insert(0, input())
got = []
for name in ("pydantic", "pytest", "openai", "harness", "yaml"):
    try:
        got.append(__import__(name))
    except ImportError:
        pass
print(f"ESCAPED: {got}" if got else "denied")
