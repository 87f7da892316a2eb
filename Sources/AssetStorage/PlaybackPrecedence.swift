package import MediaTiming

/// The rule by which the transfer of a downloaded file leaves the network to players of all processes.
///
/// A player that waits for this file does not delay it.
package struct PlaybackPrecedence: Sendable {
    /// The error of a transfer that ends so that players have the network; its next request waits for them.
    package struct Interruption: Error {}

    private let activity: PlaybackActivity
    private let reception: FileReception
    private let time: any TimeSource
    private var seenCount: UInt64
    /// A Boolean value that indicates whether a player of another process waited for other media at the last look.
    private var isDelayedElsewhere = false
    /// The times at which the transfer was found to delay players: the first, and the last.
    private var delay: (first: Duration, last: Duration)?

    /// The maximum duration for which a transfer that cannot be continued receives nothing, so that the server does not close the
    /// connection.
    private static let maximumPause = Duration.seconds(15)
    /// The duration for which players have to wait before a transfer ends for them.
    private static let patience = Duration.milliseconds(250)
    /// The duration without a wait of a player after which a transfer continues.
    private static let interval = Duration.milliseconds(100)
    /// The time between two looks at the waits of other processes; a transfer continues after the second in a row that finds none.
    private static let intervalElsewhere = Duration.milliseconds(250)

    /// Creates the rule for the reception of a file.
    package init(_ reception: FileReception, in library: AssetLibrary, time: any TimeSource) {
        self.reception = reception
        self.time = time
        activity = library.playback
        seenCount = library.playback.totalCount
        library.playback.prepareForOthers()
    }

    /// Waits before a request as long as players wait for other media.
    ///
    /// - Throws: `CancellationError`.
    package mutating func waitBeforeRequest() async throws { try await wait(atMost: nil) }

    /// Leaves the network to players that wait for other media, between two buffers of a response.
    ///
    /// A transfer that reads no more still uses the network: the system receives what fits into the buffer of its connection, often a
    /// whole segment. A transfer that can be continued therefore ends as soon as players have waited for 250 ms. Any other waits, for
    /// 15 s at most.
    ///
    /// - Parameter canContinue: A Boolean value that indicates whether another request can continue the transfer.
    /// - Throws: ``Interruption`` if the transfer has to end, `CancellationError`.
    package mutating func leaveNetwork(canContinue: Bool) async throws {
        guard canContinue else { return try await wait(atMost: Self.maximumPause) }
        let now = time.now
        guard nextInterval() != nil else {
            // Players do not wait for a moment between two buffers.
            if let last = delay?.last, now - last >= Self.intervalElsewhere { delay = nil }
            return
        }
        let first = delay?.first ?? now
        delay = (first, now)
        if now - first >= Self.patience { throw Interruption() }
    }

    private mutating func wait(atMost limit: Duration?) async throws {
        var waited = Duration.zero
        while let interval = nextInterval(), limit.map({ waited < $0 }) ?? true {
            try await time.sleep(for: interval)
            waited += interval
        }
    }

    /// Returns the time until the next look; `nil` if the transfer need not wait.
    ///
    /// A player that has waited since the last look counts. The waits of another process between two looks are not known, so the
    /// transfer waits until a second look finds none.
    private mutating func nextInterval() -> Duration? {
        let count = activity.totalCount
        let isDelayed = activity.isWaiting || count != seenCount
        seenCount = count
        let awaited = activity.mediaAwaitedElsewhere(reception, at: time.now)
        let wasDelayedElsewhere = isDelayedElsewhere
        isDelayedElsewhere = awaited == .other
        if reception.hasReaders || awaited == .file { return nil }
        if isDelayed { return Self.interval }
        return isDelayedElsewhere || wasDelayedElsewhere ? Self.intervalElsewhere : nil
    }
}
