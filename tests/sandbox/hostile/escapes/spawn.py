import os
import subprocess

got = []
for start in (
    lambda: os.posix_spawn("/bin/true", ["true"], {}) > 0,
    lambda: os.posix_spawnp("true", ["true"], {}) > 0,
    lambda: os.system("true") == 0,
    lambda: bool(os.popen("echo ESCAPED").read()),
    lambda: subprocess.run(["/bin/true"]).returncode == 0,
    lambda: bool(subprocess.check_output("echo ESCAPED", shell=True)),
    lambda: os.spawnlp(os.P_WAIT, "true", "true") == 0,
):
    try:
        got.append(start())
    except (OSError, subprocess.SubprocessError):
        pass
print(f"ESCAPED: {got}" if any(got) else int(input()) * 2)
