public import MediaTiming
import PlaybackReporting
import StreamingEngine

extension Player {
    /// Plays at the default rate, as soon as there is enough to play through.
    ///
    /// At the end of an item nothing happens: seek first.
    public func play() {
        let state = state
        setRate(state.requiresNormalRate ? min(1, state.defaultRate) : state.defaultRate)
    }

    /// Stops, and keeps what is loaded.
    public func pause() { setRate(0) }

    /// The rate that is asked for: 0 is a pause, 1 normal speed.
    public var rate: Double {
        get { state.rate }
        set { setRate(newValue) }
    }

    /// The rate of ``play()``; 1 by default.
    public var defaultRate: Double {
        get { state.defaultRate }
        set { change { $0.setDefaultRate(newValue) } }
    }

    /// Asks for a rate.
    ///
    /// - Parameter rate: From 0 to 32; below 0 only where the flags of the item say so.
    /// - Returns: Whether it can be had; where not, the rate stays as it is and an event says so.
    @discardableResult
    public func setRate(_ rate: Double) -> Bool { change { $0.setRate(rate) } }

    /// Plays what there is, without waiting for enough.
    ///
    /// - Parameter rate: See ``setRate(_:)``.
    public func playImmediately(atRate rate: Double) { change { _ = $0.setRate(rate, atOnce: true) } }

    /// Lets the play head of the current item be at a time at a moment, to play together with something else.
    ///
    /// What is there then is played, without waiting for enough; a moment that has passed is caught up with. Prepare the
    /// item before, with ``preroll(atRate:)``.
    ///
    /// - Parameters:
    ///   - rate: See ``setRate(_:)``; not 0.
    ///   - time: Where the play head is to be; `nil` for where it is.
    ///   - hostTime: When, on the clock of the environment: ``hostTime`` and some more.
    /// - Returns: Whether the rate can be had, of an item that is ready.
    @discardableResult
    public func setRate(_ rate: Double, time: MediaTime?, atHostTime hostTime: Duration) -> Bool {
        guard rate != 0, state.currentItem?.state.status == .readyToPlay else { return false }
        return change { $0.setRate(rate, from: Lineup.Departure(time: time, hostTime: hostTime)) }
    }

    /// The time on the clock of the environment, which ``setRate(_:time:atHostTime:)`` goes by.
    public var hostTime: Duration { environment.time.now }

    /// Waits until the current item can be played at once, while the player is paused.
    ///
    /// - Parameter rate: The rate that it will be played at.
    /// - Returns: Whether it is prepared; `false` where it failed, where the player was told to play or another item came
    ///   first, and when cancelled.
    public func preroll(atRate rate: Double) async -> Bool {
        guard let item = state.currentItem, rate != 0 else { return false }
        for await state in states {
            let playback = state.playback
            guard state.currentItem == item, state.rate == 0, playback.status != .failed else { return false }
            guard playback.status == .readyToPlay, !playback.isSeeking else { continue }
            if playback.isPlaybackLikelyToKeepUp || playback.isPlaybackBufferFull { return true }
        }
        return false
    }

    /// What it does at the end of an item: a ``Player`` pauses by default, a ``QueuePlayer`` advances.
    public var actionAtItemEnd: ActionAtItemEnd {
        get { state.actionAtItemEnd }
        set { change { $0.setActionAtItemEnd(newValue) } }
    }

    /// Whether playing waits until there is enough to play through; it does by default.
    public var automaticallyWaitsToMinimizeStalling: Bool {
        get { state.automaticallyWaitsToMinimizeStalling }
        set { change { $0.setAutomaticallyWaits(newValue) } }
    }

    /// How loud all its items are: 0 for silence to 1, the default, for as they come; anything else is brought into that
    /// range.
    ///
    /// It changes what is heard, not what is written to files.
    public var volume: Double {
        get { state.volume }
        set { change { $0.setVolume(newValue, isMuted: $0.state.isMuted) } }
    }

    /// Whether all its items are silent whatever the volume; they are not by default.
    public var isMuted: Bool {
        get { state.isMuted }
        set { change { $0.setVolume($0.state.volume, isMuted: newValue) } }
    }

    /// Stops because the application no longer may, or can, play: before the process is stopped, say.
    ///
    /// The rate falls to 0, with `appBackgrounded` as the reason; nothing plays on by itself afterwards.
    public func applicationWillSuspend() { change { _ = $0.setRate(0, .appBackgrounded) } }

    /// Stops because something else has the sound now: a call, say.
    ///
    /// The rate falls to 0, with `audioSessionInterrupted` as the reason; nothing plays on by itself afterwards.
    public func audioSessionWasInterrupted() { change { _ = $0.setRate(0, .audioSessionInterrupted) } }
}
