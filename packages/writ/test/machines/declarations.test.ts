import { describe, expect, test } from 'vitest';
import { diagram, machines } from '../../src/machines/index.js';

describe.each(machines.map((machine) => [machine.name, machine] as const))(
  'the machine %s',
  (_, machine) => {
    test('names in its transitions only states and events that it declares', () => {
      for (const { from, event, to } of machine.transitions) {
        expect([...machine.states, '']).toContain(from);
        expect(machine.states).toContain(to);
        expect(machine.events).toContain(event);
      }
    });

    test('uses every event', () => {
      expect([...new Set(machine.transitions.map((t) => t.event))].sort()).toEqual(
        [...machine.events].sort(),
      );
    });

    test('leads nowhere from its terminal states, and somewhere from all others that it rests in', () => {
      const rest = new Set(machine.transitions.map((t) => t.to));
      for (const state of rest) {
        const leads = machine.transitions.some((t) => t.from === state);
        expect([state, leads]).toEqual([state, !machine.terminal.includes(state)]);
      }
    });

    test('says what decides where one event can lead to several states', () => {
      for (const { from, event, to, when } of machine.transitions) {
        const others = machine.transitions.filter(
          (t) => t.from === from && t.event === event && t.to !== to,
        );
        if (others.length > 0 && !when) {
          expect(others.every((other) => other.when)).toBe(true);
        }
      }
    });

    test('declares no transition twice', () => {
      const moves = machine.transitions.map((t) => `${t.from} ${t.event} ${t.to}`);
      expect(new Set(moves).size).toBe(moves.length);
    });

    test('draws every transition', () => {
      const arrows = diagram(machine)
        .split('\n')
        .filter((line) => line.includes('-->'));
      expect(arrows).toHaveLength(machine.transitions.length + machine.terminal.length);
    });
  },
);
