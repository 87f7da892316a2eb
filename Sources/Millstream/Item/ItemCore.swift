import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine

/// What an item knows, behind its lock.
struct ItemCore: Sendable {
    /// What is told of an item: to applications, and as a measurement.
    struct Told: Sendable {
        var event: PlayerItem.Event
        var metric: MetricEvent?
    }

    var state = PlayerItem.State()
    private(set) var journal: ItemJournal?
    /// The engine that plays it; `nil` where none does.
    private(set) var session: ItemSession?
    /// The clock of the player that it is in, or was.
    private(set) var time: any TimeSource
    /// The one before too, for what it says at its end.
    private var lastSession: ItemSession?
    /// When the snapshot came.
    private var snapshotTime = Duration.zero

    init(time: any TimeSource) { self.time = time }

    /// Where the play head is.
    var position: MediaTime { state.timebase.mediaTime(at: time.now) }

    /// The date at the play head, counted on from when it was last told.
    var date: ProgramDateTime? {
        let timebase = state.timebase
        return state.playback.programDate?.advanced(
            by: timebase.mediaTime(at: time.now) - timebase.mediaTime(at: snapshotTime)
        )
    }

    /// An engine is to play it.
    mutating func attach(_ session: ItemSession, time: any TimeSource, _ described: PlaybackSession) {
        guard !session.isEnded else { return }
        self.session = session
        lastSession = session
        self.time = time
        journal?.begin(described)
        journal = journal ?? ItemJournal(described)
        state.playback = PlaybackSnapshot()
        state.playback.timebase = Timebase(mediaTime: state.configuration.options.startTime ?? .zero, time: time.now)
    }

    /// The engine is to go; the item keeps what it was, and where.
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

    /// The engine says something.
    ///
    /// - Returns: Whether there is an answer for it.
    mutating func take(_ output: PlaybackEngineOutput, from session: ItemSession, _ told: inout [Told]) -> Bool {
        switch output {
        case .snapshot(let snapshot):
            guard session === self.session else { return false }
            let recommended = state.recommendedTimeOffsetFromLive
            // Before it knows what there is, an engine can choose nothing.
            let commands =
                state.playback.presentation == nil && snapshot.presentation != nil
                ? state.configuration.commands : []
            for command in commands { session.commands.add(command) }
            state.playback = snapshot
            snapshotTime = time.now
            if recommended != snapshot.recommendedTimeOffsetFromLive {
                told.append(Told(event: .notification(.recommendedTimeOffsetFromLiveDidChange)))
            }
            return !commands.isEmpty
        case .event(let event):
            guard session === lastSession, var journal else { return false }
            // An item may be taken from its engine before that says the same in a snapshot.
            if case .playedToEnd = event.kind, session === self.session { state.playback.hasPlayedToEnd = true }
            // Out of the state while it changes, so that its logs need not be copied.
            self.journal = nil
            let notifications = journal.add(event)
            let metric = MetricEvent(
                event,
                session: journal.session,
                summary: journal.summary(at: event.time, event.mediaTime)
            )
            told.append(Told(event: .playback(event), metric: metric))
            told += notifications.map { Told(event: .notification($0)) }
            self.journal = journal
            return false
        }
    }

    /// Something is asked for, now and of every engine to come.
    mutating func update(_ change: @escaping @Sendable (inout StreamingOptions) -> Void) {
        change(&state.configuration.options)
        session?.commands.add(.update(change))
    }

    /// The play head is to be elsewhere.
    ///
    /// - Returns: How that ended, where there is no engine to wait for.
    mutating func seek(_ ticket: SeekTicket) -> SeekCompletion? {
        if let session, session.commands.add(.seek(ticket)) { return nil }
        switch ticket.target {
        case .time(let time):
            let start = max(.zero, time)
            state.configuration.options.startTime = start
            state.playback.timebase = Timebase(mediaTime: start, time: self.time.now)
            return SeekCompletion(isFinished: true, landed: start)
        case .date(let date):
            state.configuration.options.startTime = nil
            state.configuration.options.startDate = date
            return SeekCompletion(isFinished: false, landed: state.timebase.mediaTime)
        }
    }

    /// A viewer chooses, or leaves the choice to rules.
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

    /// Rules change what nobody has chosen.
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

    /// A track is turned on or off.
    ///
    /// - Returns: Whether that can be done.
    mutating func enable(_ isEnabled: Bool, trackID: Int) -> Bool {
        guard let track = state.tracks.first(where: { $0.id == trackID }) else { return false }
        guard track.isEnabled != isEnabled else { return true }
        guard track.canBeDisabled else { return false }
        let renditionType = PlayerItemTrack.renditionType(of: track.mediaType)
        let isAlone = renditionType.map { type in
            state.playback.selection[type] != nil || state.configuration.disabledTracks[type] != nil
        }
        guard let type = renditionType, isAlone == true else {
            // It shares segments with others: they go on, and it is only not seen or heard.
            if isEnabled {
                state.configuration.silencedTracks.remove(track.mediaType)
            } else {
                state.configuration.silencedTracks.insert(track.mediaType)
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
