public import MediaTiming
import PlaybackReporting
import StreamingEngine

extension Player {
    /// Plays at the default rate, as soon as the buffer suffices to play without a stall.
    ///
    /// At the end of an item this has no effect; seek first.
    public func play() {
        let state = state
        setRate(state.requiresNormalRate ? min(1, state.defaultRate) : state.defaultRate)
    }

    /// Pauses playback; buffered media is preserved.
    public func pause() { setRate(0) }

    /// The requested rate: 0 is paused, 1 is normal speed.
    public var rate: Double {
        get { state.rate }
        set { setRate(newValue) }
    }

    /// The rate that ``play()`` requests; the default is 1.
    public var defaultRate: Double {
        get { state.defaultRate }
        set { change { $0.setDefaultRate(newValue) } }
    }

    /// Requests a rate.
    ///
    /// - Parameter rate: A rate from 0 to 32, or below 0 if the abilities of the item permit it.
    /// - Returns: A Boolean value that indicates whether the rate is supported; if not, the rate is unchanged and an
    ///   event reports the refusal.
    @discardableResult
    public func setRate(_ rate: Double) -> Bool { change { $0.setRate(rate) } }

    /// Plays the buffered media at once, even if it does not suffice to play without a stall.
    ///
    /// - Parameter rate: The rate, as for ``setRate(_:)``.
    public func playImmediately(atRate rate: Double) { change { _ = $0.setRate(rate, immediately: true) } }

    /// Sets the rate and synchronizes the given media time with the given host time, so that several players can play
    /// in synchrony.
    ///
    /// Playback starts at the host time even if the buffer does not suffice; if that time has passed, the playhead
    /// catches up. Prepare the item first with ``preroll(atRate:)``.
    ///
    /// - Parameters:
    ///   - rate: The rate, as for ``setRate(_:)``, but not 0.
    ///   - time: The media time; `nil` for the current position.
    ///   - hostTime: The host time, on the clock of the environment; normally ``hostTime`` plus a delay.
    /// - Returns: A Boolean value that indicates whether the rate is supported and the current item is ready to play.
    @discardableResult
    public func setRate(_ rate: Double, time: MediaTime?, atHostTime hostTime: Duration) -> Bool {
        guard rate != 0, state.currentItem?.state.status == .readyToPlay else { return false }
        return change {
            $0.setRate(rate, from: QueueStateMachine.SynchronizedStart(mediaTime: time, hostTime: hostTime))
        }
    }

    /// The current time on the clock of the environment, for ``setRate(_:time:atHostTime:)``.
    public var hostTime: Duration { environment.time.now }

    /// Waits until the current item can be played at once, while the player is paused.
    ///
    /// - Parameter rate: The rate at which the item will be played; must not be 0.
    /// - Returns: A Boolean value that indicates whether the item is prepared; `false` if it failed, if the rate or the
    ///   current item was changed meanwhile, or if the task was canceled.
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

    /// The action at the end of an item; by default, a ``Player`` pauses and a ``QueuePlayer`` advances.
    public var actionAtItemEnd: ActionAtItemEnd {
        get { state.actionAtItemEnd }
        set { change { $0.setActionAtItemEnd(newValue) } }
    }

    /// A Boolean value that indicates whether playback waits until the buffer suffices to play without a stall; the
    /// default is `true`.
    public var automaticallyWaitsToMinimizeStalling: Bool {
        get { state.automaticallyWaitsToMinimizeStalling }
        set { change { $0.setAutomaticallyWaits(newValue) } }
    }

    /// The volume of all items, from 0 for silence to 1, the default, for the original level; other values are clamped.
    ///
    /// It affects audible output, not audio that is written to files.
    public var volume: Double {
        get { state.volume }
        set { change { $0.setVolume(newValue, isMuted: $0.state.isMuted) } }
    }

    /// A Boolean value that indicates whether all items are silent regardless of the volume; the default is `false`.
    public var isMuted: Bool {
        get { state.isMuted }
        set { change { $0.setVolume($0.state.volume, isMuted: newValue) } }
    }

    /// Pauses playback because the application is about to be suspended or moved to the background.
    ///
    /// The rate becomes 0 with the reason `appBackgrounded`; playback does not resume automatically.
    public func applicationWillSuspend() { change { _ = $0.setRate(0, .appBackgrounded) } }

    /// Removes all items, and waits until their engines have ended.
    ///
    /// When it returns, the outputs are no longer used, and all events have been delivered, including those at the end
    /// of a session. Call it before files are closed or the process ends.
    public func shutDown() async {
        let sessions = hub.state.activeSessions
        change { $0.setItems([]) }
        for session in sessions { await session.waitUntilEnded() }
        await interstitials.controller?.interstitialPlayer.shutDown()
    }

    /// Pauses playback because another application uses the audio output, for example for a call.
    ///
    /// The rate becomes 0 with the reason `audioSessionInterrupted`; playback does not resume automatically.
    public func audioSessionWasInterrupted() { change { _ = $0.setRate(0, .audioSessionInterrupted) } }
}
