"""Episodes for training: the agent loop for a user's own model, with rewards.

library: `Episode`. shared: `Episodes`, shared by many. rollout: one problem from reset to reward.
policy: the external model as the loop sees it. reward: the reward rules.
"""
