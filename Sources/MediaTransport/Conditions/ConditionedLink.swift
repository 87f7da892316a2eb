public import MediaTiming
public import NetworkConditioning
import Synchronization

/// A simulated network link that several transfers share, in real or simulated time; its profile can change while they
/// run.
public final class ConditionedLink: Sendable {
    private struct State {
        var model: LinkModel
        /// A Boolean value that indicates whether all transfers must end.
        var isEnded = false
        /// The number of bytes that the link has accepted toward the client.
        var transmittedByteCount: Int64 = 0
        /// The number of profile changes, by which waiting transfers detect a change.
        var generation = 0
        /// The times at which the resolution of host names ends, by host name.
        var resolutionTimes: [String: Duration] = [:]
    }

    private let state: Mutex<State>
    package let time: any TimeSource
    /// The maximum time for which a transfer waits while the link transmits no data; then it fails.
    let stallTimeout: Duration

    /// The maximum delay of a wakeup by the system clock, which is compensated; timers are coarse and threads are busy.
    private static let timerTolerance = Duration.milliseconds(25)
    /// The interval at which waiting transfers check for a change.
    static let pollInterval = Duration.milliseconds(100)
    /// The time after which a name is resolved again, as client resolvers do.
    private static let nameLifetime = Duration.seconds(60)
    private static let maximumNameCount = 10_000

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - profile: The network conditions.
    ///   - time: The clock of the transfers.
    ///   - stallTimeout: The maximum time for which a transfer waits while the link transmits no data.
    ///   - seed: The seed of the random number generator for packet loss.
    public init(
        _ profile: LinkProfile,
        time: any TimeSource = SystemTimeSource(),
        stallTimeout: Duration = .seconds(20),
        seed: UInt64 = 1
    ) {
        self.time = time
        self.stallTimeout = stallTimeout
        // A test clock is never late.
        let slack = time is SystemTimeSource ? Self.timerTolerance : .zero
        state = Mutex(State(model: LinkModel(profile, startingAt: time.now, timerTolerance: slack, seed: seed)))
    }

    /// The current network conditions.
    public var profile: LinkProfile { state.withLock { $0.model.profile } }

    /// The number of bytes that the link has accepted toward the client.
    package var transmittedByteCount: Int64 { state.withLock { $0.transmittedByteCount } }

    /// Changes the network conditions, including those of transfers in progress; traces and outages start again.
    public func change(to profile: LinkProfile) {
        let now = time.now
        state.withLock { state in
            state.model.change(to: profile, at: now)
            state.generation += 1
            state.resolutionTimes = [:]
        }
    }

    /// Ends all transfers with a `CancellationError`.
    package func end() { state.withLock { $0.isEnded = true } }

    /// Verifies that the link was not ended.
    ///
    /// - Throws: `CancellationError` if the link was ended.
    func checkEnded() throws {
        if state.withLock({ $0.isEnded }) { throw CancellationError() }
    }

    var generation: Int { state.withLock { $0.generation } }

    /// Returns the recommended size of a chunk to send, in bytes.
    func chunkSize(_ direction: LinkModel.Direction) -> Int {
        let now = time.now
        return state.withLock { $0.model.chunkSize(direction, at: now) }
    }

    /// Sends a chunk; see ``LinkModel/send(_:_:of:availableAt:at:)``.
    ///
    /// - Returns: The departure and arrival of the chunk (`nil` if the link transmits no data), and the ``generation``
    ///   of the conditions that determined them.
    func send(
        _ byteCount: Int,
        _ direction: LinkModel.Direction,
        of flow: inout LinkModel.Flow,
        availableAt available: Duration? = nil
    ) -> (passage: LinkModel.Transmission?, generation: Int) {
        let now = time.now
        return state.withLock { state in
            let passage = state.model.send(byteCount, direction, of: &flow, availableAt: available, at: now)
            if passage != nil, direction == .down { state.transmittedByteCount +|= Int64(clamping: byteCount) }
            return (passage, state.generation)
        }
    }

    /// Waits until the head of a message has crossed the link, which costs latency but no bandwidth.
    ///
    /// - Throws: ``TransportError`` if the message does not arrive, `CancellationError` when canceled.
    package func transmitHead(_ direction: LinkModel.Direction, of flow: inout LinkModel.Flow) async throws {
        let begun = time.now
        let saved = flow
        while true {
            flow = saved
            let (transmission, generation) = send(0, direction, of: &flow, availableAt: begun)
            guard try await wait(for: transmission, since: begun, generation) else { continue }
            return
        }
    }

    /// Waits for the arrival of a chunk.
    ///
    /// - Returns: A Boolean value that indicates whether the chunk arrived; `false` if it must be sent again under
    ///   changed conditions.
    private func wait(
        for transmission: LinkModel.Transmission?,
        since begun: Duration,
        _ generation: Int
    ) async throws -> Bool {
        guard let transmission else {
            try await waitForChange(since: begun)
            return false
        }
        while time.now < transmission.arrival {
            guard time.now - begun < stallTimeout else { throw stallError }
            try checkEnded()
            try await time.sleep(for: min(transmission.arrival - time.now, Self.pollInterval))
            if generation != self.generation, time.now < transmission.sendEnd { return false }
        }
        if transmission.breaksConnection { throw Self.connectionLostError }
        return true
    }

    /// Waits for a short time while the link transmits no data.
    ///
    /// - Throws: ``TransportError`` if this has lasted longer than ``stallTimeout``.
    private func waitForChange(since begun: Duration) async throws {
        guard time.now - begun < stallTimeout else { throw stallError }
        try checkEnded()
        try await time.sleep(for: Self.pollInterval)
    }

    /// The error of a transfer that waited longer than ``stallTimeout``.
    var stallError: TransportError {
        TransportError(.timedOut, "the simulated link (\(profile.name)) transmitted no data before the timeout")
    }

    static var connectionLostError: TransportError {
        TransportError(.connectionLost, "the simulated link lost too many packets and closed the connection")
    }

    /// Waits for the DNS delay of the profile, unless the host name was resolved recently.
    ///
    /// The delay also applies to numeric addresses, because hosts in tests seldom have names.
    ///
    /// - Returns: The time that was waited; `nil` if the name is already resolved or the profile has no DNS delay.
    package func resolve(_ host: String) async throws -> Duration? {
        let now = time.now
        // A request for a name that is being resolved waits for the remaining time.
        let delay: Duration? = state.withLock { state in
            guard state.model.profile.dnsDelay > .zero else { return nil }
            if let known = state.resolutionTimes[host], now - known < Self.nameLifetime {
                return known > now ? known - now : nil
            }
            if state.resolutionTimes.count >= Self.maximumNameCount { state.resolutionTimes = [:] }
            state.resolutionTimes[host] = now + state.model.profile.dnsDelay
            return state.model.profile.dnsDelay
        }
        guard let delay else { return nil }
        try await time.sleep(for: delay)
        return delay
    }
}
