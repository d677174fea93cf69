/**
 * Typebox, of which the build makes this one file: its own are over five hundred, and every process
 * would read them all before it does anything.
 */
export { default } from 'typebox';
export { Compile, Errors, type Validator } from 'typebox/schema';
