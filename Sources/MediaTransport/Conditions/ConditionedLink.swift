public import MediaTiming
public import NetworkConditioning
import Synchronization

/// A link that many transfers share, in real or simulated time; what it does can be changed while they run.
public final class ConditionedLink: Sendable {
    private struct State {
        var model: LinkModel
        /// Whether nobody shall wait for anything any more.
        var isEnded = false
        /// Counts the changes: what waits finds out that there was one.
        var generation = 0
        /// When names are resolved.
        var names: [String: Duration] = [:]
    }

    private let state: Mutex<State>
    package let time: any TimeSource
    /// How long a transfer waits where nothing gets through, before it is given up.
    let patience: Duration

    /// How late the clock of a machine may wake us: timers are coarse, and threads are busy.
    private static let slack = Duration.milliseconds(25)
    /// A change is noticed within this time.
    static let longestWait = Duration.milliseconds(100)
    /// A name is resolved anew after this time, as resolvers on clients do.
    private static let nameLifetime = Duration.seconds(60)
    private static let mostNames = 10_000

    /// Makes a link.
    ///
    /// - Parameters:
    ///   - profile: What it does.
    ///   - time: The clock that transfers wait by.
    ///   - patience: How long a transfer waits where nothing gets through.
    ///   - seed: What decides about losses.
    public init(
        _ profile: LinkProfile,
        time: any TimeSource = SystemTimeSource(),
        patience: Duration = .seconds(20),
        seed: UInt64 = 1
    ) {
        self.time = time
        self.patience = patience
        // A clock of a test is never late.
        let slack = time is SystemTimeSource ? Self.slack : .zero
        state = Mutex(State(model: LinkModel(profile, startingAt: time.now, slack: slack, seed: seed)))
    }

    /// What it does now.
    public var profile: LinkProfile { state.withLock { $0.model.profile } }

    /// Changes what it does, also to the transfers that are on their way; traces and outages begin anew.
    public func change(to profile: LinkProfile) {
        let now = time.now
        state.withLock { state in
            state.model.change(to: profile, at: now)
            state.generation += 1
            state.names = [:]
        }
    }

    /// Ends all transfers: whoever waits for one gets a `CancellationError`.
    package func end() { state.withLock { $0.isEnded = true } }

    /// Whether transfers may go on.
    ///
    /// - Throws: `CancellationError` where they may not.
    func checkEnd() throws {
        if state.withLock({ $0.isEnded }) { throw CancellationError() }
    }

    var generation: Int { state.withLock { $0.generation } }

    /// How many bytes should be sent at once.
    func pieceSize(_ direction: LinkModel.Direction) -> Int {
        let now = time.now
        return state.withLock { $0.model.pieceSize(direction, at: now) }
    }

    /// Sends a piece; see ``LinkModel/send(_:_:of:availableAt:at:)``.
    ///
    /// - Returns: What becomes of it, and the generation of the conditions that decided so.
    func send(
        _ byteCount: Int,
        _ direction: LinkModel.Direction,
        of flow: inout LinkModel.Flow,
        availableAt available: Duration? = nil
    ) -> (passage: LinkModel.Passage?, generation: Int) {
        let now = time.now
        return state.withLock { state in
            (state.model.send(byteCount, direction, of: &flow, availableAt: available, at: now), state.generation)
        }
    }

    /// Waits until the head of a message has crossed: it pays latency, and no bandwidth.
    ///
    /// - Throws: ``TransportError`` where it never does, `CancellationError` when cancelled.
    package func carryHead(_ direction: LinkModel.Direction, of flow: inout LinkModel.Flow) async throws {
        let begun = time.now
        let saved = flow
        while true {
            flow = saved
            let (passage, generation) = send(0, direction, of: &flow, availableAt: begun)
            guard try await wait(for: passage, since: begun, generation) else { continue }
            return
        }
    }

    /// Waits for what was sent.
    ///
    /// - Returns: Whether it arrived; `false` where it has to be sent again under other conditions.
    private func wait(for passage: LinkModel.Passage?, since begun: Duration, _ generation: Int) async throws -> Bool {
        guard let passage else {
            try await waitForChange(since: begun)
            return false
        }
        while time.now < passage.arrives {
            guard time.now - begun < patience else { throw silence }
            try checkEnd()
            try await time.sleep(for: min(passage.arrives - time.now, Self.longestWait))
            if generation != self.generation, time.now < passage.leaves { return false }
        }
        if passage.breaks { throw Self.broken }
        return true
    }

    /// Waits a moment where nothing gets through.
    ///
    /// - Throws: ``TransportError`` where that has lasted too long.
    private func waitForChange(since begun: Duration) async throws {
        guard time.now - begun < patience else { throw silence }
        try checkEnd()
        try await time.sleep(for: Self.longestWait)
    }

    /// What a transfer ends with that waited longer than ``patience``.
    var silence: TransportError {
        TransportError(.timedOut, "nothing gets through the conditioned link (\(profile.name))")
    }

    static var broken: TransportError {
        TransportError(.connectionLost, "the conditioned link lost too many packets and broke the connection")
    }

    /// Waits as long as the resolution of a name takes, where it was not resolved lately.
    ///
    /// Numeric addresses wait too: the hosts of tests seldom have names.
    ///
    /// - Returns: How long it took; `nil` where it was known.
    package func resolve(_ host: String) async throws -> Duration? {
        let now = time.now
        // Whoever asks for a name that is being resolved waits for the rest of the time.
        let delay: Duration? = state.withLock { state in
            guard state.model.profile.dnsDelay > .zero else { return nil }
            if let known = state.names[host], now - known < Self.nameLifetime {
                return known > now ? known - now : nil
            }
            if state.names.count >= Self.mostNames { state.names = [:] }
            state.names[host] = now + state.model.profile.dnsDelay
            return state.model.profile.dnsDelay
        }
        guard let delay else { return nil }
        try await time.sleep(for: delay)
        return delay
    }
}
