// Monty: a new interpreter for every source.  Usage: monty.mjs WORKLOAD PROGRAM.py [ROWS.json]
import { Monty } from '@pydantic/monty';
import { measure, nextSource, rowsText, workload } from './measure.mjs';

const step = workload === 'handed'
  ? () => JSON.stringify(
    new Monty(nextSource(), { inputs: ['rows'] }).run({ inputs: { rows: JSON.parse(rowsText) } }))
  : () => JSON.stringify(new Monty(nextSource()).run());

await measure('monty fresh', step);
