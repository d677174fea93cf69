%% Records what a real gen_statem does with random programs, one JSON line each: node record.mjs runs it twice and keeps those that agree, for real time is not exact.
%%
%% A program is data, so that another machine can run it: rules say what is returned for an event, entries what is returned for a state enter call. Which rule it is depends on the
%% state, the event and how many callbacks there were. After `limit` callbacks the rules say nothing any more, so that every program ends.
-module(traces).
-behaviour(gen_statem).
-export([main/1, init/1, callback_mode/0, handle_event/4, terminate/3]).
%% Timers that are due at nearly the same time come in an order that OTP does not promise: such a program is dropped.
-define(APART, 5).

-define(LIMIT, 24).
-define(STATES, 3).

main([Seed, Count]) ->
    rand:seed(exsss, {list_to_integer(Seed), 7, 11}),
    %% Each runs in a process of its own, for they mostly wait. One that dies leaves an empty line: OTP hands the message of a timer that was replaced as it fired to the machine, as info.
    Running = [begin Me = self(), Program = program(), spawn(fun() -> Me ! {self(), catch one(Program)} end) end || _ <- lists:seq(1, list_to_integer(Count))],
    lists:foreach(fun(Pid) -> receive {Pid, Traced} -> io:format("~s~n", [json(Traced)]) end end, Running),
    halt(0).

%% A program: [rules, entries, casts in batches]. Batches are sent while the machine is suspended, so that they are in its mailbox together.
program() ->
    {[rule() || _ <- lists:seq(1, 3 + rand:uniform(4))], [entry() || _ <- lists:seq(1, rand:uniform(3))],
     [[rand:uniform(9) || _ <- lists:seq(1, rand:uniform(5))] || _ <- lists:seq(1, rand:uniform(2))]}.

%% Next: -2 keep, -1 repeat, else a state. Actions: see action/1.
rule() ->
    Next = case rand:uniform(10) of N when N =< 4 -> -2; 5 -> -1; _ -> rand:uniform(?STATES) - 1 end,
    Postpone = [[0] || rand:uniform(4) =:= 1],
    {Next, shuffle(Postpone ++ [action() || _ <- lists:seq(1, rand:uniform(4) - 1)])}.
entry() -> [timer() || _ <- lists:seq(1, rand:uniform(3) - 1)].

%% [0] postpone, [1, content] an inserted event, [2, timer, ms, content] a timeout, [3, timer] a timeout cancelled. Timers: 0 of the state, 1 of events, 2 and 3 named.
action() -> case rand:uniform(5) of N when N =< 2 -> [1, rand:uniform(9)]; 3 -> [3, rand:uniform(4) - 1]; _ -> timer() end.
timer() ->
    case rand:uniform(6) of
        1 -> [3, rand:uniform(4) - 1];
        N when N =< 3 -> Timer = rand:uniform(4) - 1, [2, Timer, case N of 2 -> 40; 3 -> 171 end + 11 * Timer, 10 + rand:uniform(9)];
        _ -> [2, rand:uniform(4) - 1, 0, rand:uniform(9)]
    end.
shuffle(List) -> [X || {_, X} <- lists:sort([{rand:uniform(), X} || X <- List])].

one({Rules, Entries, Batches} = Program) ->
    {ok, Pid} = gen_statem:start(?MODULE, {list_to_tuple(Rules), list_to_tuple(Entries), self()}, []),
    lists:foreach(fun(Batch) ->
        ok = sys:suspend(Pid), [gen_statem:cast(Pid, Content) || Content <- Batch], ok = sys:resume(Pid), timer:sleep(20)
    end, Batches),
    quiet(Pid, -1),
    {_, {_, _, _, _, Trace}} = sys:get_state(Pid),
    gen_statem:stop(Pid),
    {Program, lists:reverse(Trace)}.

%% Until nothing has happened for longer than the longest timer.
quiet(Pid, Before) ->
    {_, {_, _, _, N, _}} = sys:get_state(Pid),
    case N of Before -> ok; _ -> timer:sleep(250), quiet(Pid, N) end.

callback_mode() -> [handle_event_function, state_enter].
init({Rules, Entries, Owner}) -> {ok, 0, {Rules, Entries, Owner, 0, []}}.
terminate(_, _, _) -> ok.

handle_event(enter, Old, State, Data) ->
    {N, New} = noted([State, 5, Old], Data),
    {keep_state, New, [erl(A) || A <- said(N, element(2, New), State * 5 + N)]};
handle_event(Type, Content, State, Data) ->
    Kind = kind(Type),
    Kind < 4 andalso Content > 9 andalso apart(),
    {N, New} = noted([State, Kind, Content], Data),
    case said(N, element(1, New), State * 31 + Kind * 7 + Content * 13 + N) of
        [] -> {keep_state, New};
        {-2, Actions} -> {keep_state, New, [erl(A) || A <- Actions]};
        {-1, Actions} -> {repeat_state, New, [erl(A) || A <- Actions]};
        {Next, Actions} -> {next_state, Next, New, [erl(A) || A <- Actions]}
    end.

apart() ->
    Now = erlang:monotonic_time(millisecond),
    case put(fired, Now) of Before when is_integer(Before), Now - Before < ?APART -> exit(too_close); _ -> ok end.

noted(Seen, {Rules, Entries, Owner, N, Trace}) -> {N, {Rules, Entries, Owner, N + 1, [Seen | Trace]}}.
said(N, _, _) when N >= ?LIMIT -> [];
said(_, Table, Hash) -> element(Hash rem tuple_size(Table) + 1, Table).

%% As they stand in a trace: 0 to 3 timeouts, 4 an inserted event, 5 a state enter call, 6 from the mailbox.
kind(state_timeout) -> 0; kind(timeout) -> 1; kind({timeout, a}) -> 2; kind({timeout, b}) -> 3; kind(internal) -> 4; kind(cast) -> 6.
name(0) -> state_timeout; name(1) -> timeout; name(2) -> {timeout, a}; name(3) -> {timeout, b}.
erl([0]) -> postpone;
erl([1, Content]) -> {next_event, internal, Content};
erl([2, Timer, Ms, Content]) -> {name(Timer), Ms, Content};
erl([3, Timer]) -> {name(Timer), cancel}.

json({'EXIT', _}) -> "[]";
json({{Rules, Entries, Batches}, Trace}) -> json([[[Next, Actions] || {Next, Actions} <- Rules], Entries, Batches, Trace]);
json(List) when is_list(List) -> ["[", lists:join(",", [json(X) || X <- List]), "]"];
json(N) when is_integer(N) -> integer_to_list(N).
