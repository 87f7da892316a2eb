/// The players and the published state as an ``InterstitialStateMachine`` sees them, and the effects of the current
/// event.
///
/// Each effect changes the observation in the way in which the players will change, so that later decisions of the same
/// event are not based on an outdated observation.
struct InterstitialPlayers: Sendable {
    typealias Effect = InterstitialStateMachine.Effect

    /// The latest observation, with the changes of effects since then.
    private(set) var observation = InterstitialObservation()
    /// The state that the application sees.
    private(set) var state = InterstitialController.State()
    /// The time of the clock at the current event.
    private(set) var now = Duration.zero
    private var effects: [Effect] = []
    /// The last number that was given to a request or an item.
    private var lastNumber = 0

    /// Begins an event.
    mutating func beginEvent(at now: Duration) { self.now = now }

    /// Ends an event.
    ///
    /// - Returns: Its effects, in their order.
    mutating func endEvent() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    /// Accepts an observation.
    ///
    /// - Returns: Whether the primary player has another item.
    mutating func accept(_ observation: InterstitialObservation) -> Bool {
        defer { self.observation = observation }
        return observation.primary.item != self.observation.primary.item
    }

    /// Returns a new number for a request or an item.
    mutating func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Adds an effect that changes neither the observation nor the published state.
    mutating func perform(_ effect: Effect) { effects.append(effect) }

    /// Changes the state that the application sees.
    mutating func publish(
        _ notifications: InterstitialController.Notification...,
        change: (inout InterstitialController.State) -> Void = { _ in }
    ) {
        change(&state)
        effects.append(.publish(state, notifications))
    }
}

// MARK: The primary player

extension InterstitialPlayers {
    /// Suspends or resumes the primary item, if it is not already.
    mutating func setSuspended(_ isSuspended: Bool) {
        guard isSuspended != observation.primary.isSuspended else { return }
        observation.primary.isSuspended = isSuspended
        effects.append(.setSuspended(isSuspended))
    }

    /// Sets whether the primary item is suspended at its end.
    mutating func setSuspendsAtEnd(_ suspends: Bool) {
        guard suspends != observation.primary.suspendsAtEnd else { return }
        observation.primary.suspendsAtEnd = suspends
        effects.append(.setSuspendsAtEnd(suspends))
    }
}

// MARK: The interstitial player

extension InterstitialPlayers {
    /// Appends items to the queue.
    mutating func enqueue(_ items: [InterstitialItem]) {
        guard let first = items.first else { return }
        followVolume()
        observation.queue.current = observation.queue.current ?? first.number
        for item in items { observation.queue.items[item.number] = InterstitialObservation.Item() }
        effects.append(.enqueue(items))
    }

    /// Removes an item that was rejected from the observed queue.
    mutating func reject(_ number: Int) {
        observation.queue.items[number] = nil
        if observation.queue.current == number { observation.queue.current = nil }
    }

    /// Empties the queue.
    mutating func clearQueue() {
        observation.queue.current = nil
        observation.queue.items = [:]
        effects.append(.clearQueue)
    }

    /// Sets the volume of the interstitial player to that of the primary player.
    mutating func followVolume() {
        let (volume, isMuted) = (observation.primary.volume, observation.primary.isMuted)
        guard observation.queue.volume != volume || observation.queue.isMuted != isMuted else { return }
        (observation.queue.volume, observation.queue.isMuted) = (volume, isMuted)
        effects.append(.setVolume(volume, isMuted: isMuted))
    }
}
