/// A state as it changes: first what it is now, then the newest whenever it changed.
///
/// Whoever reads slowly misses what was in between, never what is last. It ends when what is watched is gone. Each value of
/// this type is independent of others; iterators of one value begin with the state at that moment.
public struct StateUpdates<State: Sendable>: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = State
    /// It never fails.
    public typealias Failure = Never

    struct Reading: Sendable {
        let state: State
        let version: UInt64
        let isFinished: Bool
    }

    let read: @Sendable () -> Reading
    let wait: @Sendable (UInt64) async -> Void

    init<Stored, Event>(_ hub: Hub<Stored, Event>, _ state: @escaping @Sendable (Stored) -> State) {
        read = {
            let reading = hub.read()
            return Reading(state: state(reading.state), version: reading.version, isFinished: reading.isFinished)
        }
        wait = { await hub.wait(after: $0) }
    }

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator { Iterator(updates: self) }

    /// Gives the state whenever it changed.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let updates: StateUpdates
        private var seen: UInt64 = 0

        fileprivate init(updates: StateUpdates) { self.updates = updates }

        /// Waits for a change.
        ///
        /// - Parameter actor: Where the caller is.
        /// - Returns: The state; `nil` when there will be none, and when cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> State? {
            while !Task.isCancelled {
                let reading = updates.read()
                if reading.version != seen {
                    seen = reading.version
                    return reading.state
                }
                if reading.isFinished { return nil }
                await updates.wait(seen)
            }
            return nil
        }
    }

    /// The values of one property: first what it is now, then each that differs from the one before.
    func values<Value: Equatable & Sendable>(of keyPath: any KeyPath<State, Value> & Sendable) -> ValueUpdates<Value> {
        ValueUpdates(self) { $0[keyPath: keyPath] }
    }
}

/// One property as it changes: first what it is now, then each value that differs from the one before.
///
/// Whoever reads slowly misses what was in between, never what is last.
public struct ValueUpdates<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = Value
    /// It never fails.
    public typealias Failure = Never

    private let updates: StateUpdates<Value>

    init<State>(_ states: StateUpdates<State>, _ value: @escaping @Sendable (State) -> Value) {
        updates = StateUpdates<Value>(
            read: {
                let reading = states.read()
                return .init(state: value(reading.state), version: reading.version, isFinished: reading.isFinished)
            },
            wait: states.wait
        )
    }

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator { Iterator(states: updates.makeAsyncIterator()) }

    /// Gives the value whenever it is another.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var states: StateUpdates<Value>.Iterator
        private var last: Value?

        fileprivate init(states: StateUpdates<Value>.Iterator) { self.states = states }

        /// Waits for another value.
        ///
        /// - Parameter actor: Where the caller is.
        /// - Returns: The value; `nil` when there will be none, and when cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Value? {
            while let value = await states.next(isolation: actor) {
                if value == last { continue }
                last = value
                return value
            }
            return nil
        }
    }
}

extension StateUpdates {
    fileprivate init(read: @escaping @Sendable () -> Reading, wait: @escaping @Sendable (UInt64) async -> Void) {
        self.read = read
        self.wait = wait
    }
}
