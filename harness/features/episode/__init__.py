"""Episodes for training: the agent loop for a user's own model, with rewards.

library: `Episode`. shared: `Episodes`, shared by many. reward: the reward rules.
rollout: one problem from reset to reward, and the external model as the loop sees it.
"""
