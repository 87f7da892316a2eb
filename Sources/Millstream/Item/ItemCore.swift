import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine

/// The state of an item, guarded by the lock of its hub.
struct ItemCore: Sendable {
    /// An event for applications, with the metric event that is derived from it.
    struct EventRecord: Sendable {
        var event: PlayerItem.Event
        var metric: MetricEvent?
    }

    var state = PlayerItem.State()
    private(set) var recorder: ItemEventRecorder?
    /// The session whose engine plays the item; `nil` if no engine does.
    private(set) var session: ItemSession?
    /// The time source of the player that has the item, or had it last.
    private(set) var time: any TimeSource
    /// The most recent session, retained after it is detached to accept the events with which it ends.
    private var lastSession: ItemSession?
    /// The time at which the last snapshot arrived.
    private var snapshotTime = Duration.zero

    init(time: any TimeSource) { self.time = time }

    /// The current position of the playhead.
    var position: MediaTime { state.timebase.mediaTime(at: time.now) }

    /// The program date at the playhead, extrapolated from the last snapshot.
    var date: ProgramDateTime? {
        let timebase = state.timebase
        return state.playback.programDate?.advanced(
            by: timebase.mediaTime(at: time.now) - timebase.mediaTime(at: snapshotTime)
        )
    }

    /// Attaches the session of the engine that will play the item.
    mutating func attach(_ session: ItemSession, time: any TimeSource, _ described: PlaybackSession) {
        guard !session.isEnded else { return }
        self.session = session
        lastSession = session
        self.time = time
        recorder?.begin(described)
        recorder = recorder ?? ItemEventRecorder(described)
        state.playback = PlaybackSnapshot()
        state.playback.timebase = Timebase(mediaTime: state.configuration.options.startTime ?? .zero, time: time.now)
    }

    /// Detaches a session.
    ///
    /// The item keeps its state. If it is ready, not live and not played to the end, it also keeps its position.
    mutating func detach(_ session: ItemSession) {
        guard session === self.session else { return }
        self.session = nil
        let now = time.now
        state.playback.timebase = state.timebase.continued(at: now, rate: 0)
        state.playback.timeControl = .paused
        state.playback.desiredRate = 0
        state.playback.isSeeking = false
        let isLive = state.playbackType == .live
        let isWorthKeeping = state.status == .readyToPlay && !isLive && !state.hasPlayedToEnd
        state.configuration.options.startTime = isWorthKeeping ? state.timebase.mediaTime : nil
    }

    /// Processes an output of the engine.
    ///
    /// - Returns: A Boolean value that indicates whether commands were added for the engine.
    mutating func process(
        _ output: PlaybackEngineOutput,
        from session: ItemSession,
        events told: inout [EventRecord]
    ) -> Bool {
        switch output {
        case .snapshot(let snapshot):
            guard session === self.session else { return false }
            let recommended = state.recommendedTimeOffsetFromLive
            // An engine can select options only after it has loaded the presentation.
            let commands =
                state.playback.presentation == nil && snapshot.presentation != nil
                ? state.configuration.commands : []
            for command in commands { session.commands.add(command) }
            state.playback = snapshot
            snapshotTime = time.now
            if recommended != snapshot.recommendedTimeOffsetFromLive {
                told.append(EventRecord(event: .notification(.recommendedTimeOffsetFromLiveDidChange)))
            }
            return !commands.isEmpty
        case .event(let event):
            guard session === lastSession, var recorder else { return false }
            // The item may be detached from its engine before the snapshot that reports the same.
            if case .playedToEnd = event.kind, session === self.session { state.playback.hasPlayedToEnd = true }
            // Taken out of the state while it is changed, to avoid a copy of its logs.
            self.recorder = nil
            let notifications = recorder.add(event)
            let metric = MetricEvent(
                event,
                session: recorder.session,
                summary: recorder.summary(at: event.time, event.mediaTime)
            )
            told.append(EventRecord(event: .playback(event), metric: metric))
            told += notifications.map { EventRecord(event: .notification($0)) }
            self.recorder = recorder
            return false
        }
    }

    /// Changes the options, for the current engine and for all later ones.
    mutating func update(_ change: @escaping @Sendable (inout StreamingOptions) -> Void) {
        change(&state.configuration.options)
        session?.commands.add(.update(change))
    }

    /// Passes a seek to the engine, or changes the start position if there is no engine.
    ///
    /// - Returns: The outcome of the seek if there is no engine to wait for.
    mutating func seek(_ request: SeekRequest) -> SeekResult? {
        if let session, session.commands.add(.seek(request)) { return nil }
        switch request.target {
        case .time(let time):
            let start = max(.zero, time)
            state.configuration.options.startTime = start
            state.playback.timebase = Timebase(mediaTime: start, time: self.time.now)
            return SeekResult(isFinished: true, position: start)
        case .date(let date):
            state.configuration.options.startTime = nil
            state.configuration.options.startDate = date
            return SeekResult(isFinished: false, position: state.timebase.mediaTime)
        }
    }

    /// Applies the choice of the viewer for a group; `nil` returns to the selection rules.
    mutating func choose(_ choice: ItemConfiguration.Choice?, in group: MediaSelectionGroup) {
        state.configuration.disabledTracks[group.type] = nil
        state.configuration.choices[group.type] = choice
        let option: MediaSelectionOption?
        if let choice {
            option = choice.option
        } else if let presentation = state.playback.presentation {
            option = state.configuration.options.selectionRules.selection(for: presentation)[group.type]
        } else {
            return
        }
        session?.commands.add(.select(option, group.type))
    }

    /// Changes the selection rules and applies them to types without a choice.
    mutating func setSelectionRules(_ rules: MediaSelectionRules) {
        update { $0.selectionRules = rules }
        guard let presentation = state.playback.presentation else { return }
        let selection = rules.selection(for: presentation)
        for type in Rendition.MediaType.allCases
        where state.configuration.choices[type] == nil && state.configuration.disabledTracks[type] == nil {
            guard selection[type] != state.playback.selection[type] else { continue }
            session?.commands.add(.select(selection[type], type))
        }
    }

    /// Enables or disables a track.
    ///
    /// - Returns: A Boolean value that indicates whether the track can be enabled or disabled.
    mutating func enable(_ isEnabled: Bool, trackID: Int) -> Bool {
        guard let track = state.tracks.first(where: { $0.id == trackID }) else { return false }
        guard track.isEnabled != isEnabled else { return true }
        guard track.canBeDisabled else { return false }
        let renditionType = PlayerItemTrack.renditionType(of: track.mediaType)
        let isAlone = renditionType.map { type in
            let selected = state.playback.selection[type]
            // The tracks of a media file share its segments.
            return selected.map { $0.fileTrack == nil } ?? (state.configuration.disabledTracks[type] != nil)
        }
        guard let type = renditionType, isAlone == true,
            !state.configuration.disabledMediaTypes.contains(track.mediaType)
        else {
            // The track shares its segments with others, which continue to be played; only its rendering is disabled.
            if isEnabled {
                state.configuration.disabledMediaTypes.remove(track.mediaType)
            } else {
                state.configuration.disabledMediaTypes.insert(track.mediaType)
            }
            session?.commands.add(.setEnabled(track.mediaType, isEnabled))
            return true
        }
        if isEnabled {
            guard let disabled = state.configuration.disabledTracks.removeValue(forKey: type) else { return false }
            session?.commands.add(.select(disabled.option, type))
            return true
        }
        guard let option = state.playback.selection[type],
            let playing = state.playback.tracks.first(where: { $0.id == trackID })
        else { return false }
        state.configuration.disabledTracks[type] = .init(track: playing, option: option)
        session?.commands.add(.select(nil, type))
        return true
    }
}
