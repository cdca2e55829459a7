"""Episodes for training: the agent loop with an external model, and a reward from hidden tests.

library: `Episode`. shared: `Episodes`, shared by many. rollout: one problem from reset to reward.
policy: the external model as the loop sees it. reward: the reward rules.
"""
