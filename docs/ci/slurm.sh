#!/bin/bash
#SBATCH --job-name=evals
#SBATCH --array=0-3
#SBATCH --output=evals-%a.log
set -e
export CI=true
mkdir -p shards
rm -f "shards/$SLURM_ARRAY_TASK_ID.json" # of an earlier run
runevals --shard auto --baseline base.json -o "shards/$SLURM_ARRAY_TASK_ID.json"
