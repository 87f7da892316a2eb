/// An asynchronous sequence of states: the current state first, then the latest state after each change.
///
/// A slow reader misses intermediate states, but never the last one. The sequence ends when the observed object is
/// deallocated. Values of this type are independent of each other; each iterator begins with the state at that moment.
public struct StateUpdates<State: Sendable>: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = State
    /// The type of errors; the sequence never throws.
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

    /// Creates an iterator, which begins with the current state.
    public func makeAsyncIterator() -> Iterator { Iterator(updates: self) }

    /// An iterator over states.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let updates: StateUpdates
        private var seen: UInt64 = 0

        fileprivate init(updates: StateUpdates) { self.updates = updates }

        /// Waits for a change of the state.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The state; `nil` if there will be no more changes or the task is canceled.
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

    /// Returns a sequence of the values of one property: the current value, then each value that differs from the
    /// previous one.
    func values<Value: Equatable & Sendable>(of keyPath: any KeyPath<State, Value> & Sendable) -> ValueUpdates<Value> {
        ValueUpdates(self) { $0[keyPath: keyPath] }
    }
}

/// An asynchronous sequence of the values of one property: the current value first, then each value that differs from
/// the previous one.
///
/// A slow reader misses intermediate values, but never the last one.
public struct ValueUpdates<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = Value
    /// The type of errors; the sequence never throws.
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

    /// Creates an iterator, which begins with the current value.
    public func makeAsyncIterator() -> Iterator { Iterator(states: updates.makeAsyncIterator()) }

    /// An iterator over the values of one property.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var states: StateUpdates<Value>.Iterator
        private var last: Value?

        fileprivate init(states: StateUpdates<Value>.Iterator) { self.states = states }

        /// Waits for a different value.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The value; `nil` if there will be no more changes or the task is canceled.
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
