"""Preferences in Stable-Baselines3: a rollout buffer, a callback and PPO; needs the extra `sb3`."""
