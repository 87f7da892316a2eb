import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine

/// What was asked of an item, whether or not there is an engine to ask.
struct ItemConfiguration: Sendable {
    /// What a viewer chose of one type: an option, or none.
    enum Choice: Sendable, Hashable {
        case option(MediaSelectionOption)
        case none

        var option: MediaSelectionOption? { if case .option(let option) = self { option } else { nil } }
    }

    /// A track that was turned off, and what it was played from.
    struct DisabledTrack: Sendable, Hashable {
        let track: PlaybackTrack
        let option: MediaSelectionOption
    }

    /// What an engine is made with.
    var options = StreamingOptions()
    /// What was chosen; a type that is missing is left to rules.
    var choices: [Rendition.MediaType: Choice] = [:]
    /// What was turned off.
    var disabledTracks: [Rendition.MediaType: DisabledTrack] = [:]

    /// What is not seen or heard though it is played.
    var silencedTracks: Set<MediaType> = []

    /// Whether what its stream schedules in between is played.
    var handlesInterstitials = true
    /// Whether its play head may go forward by playing only.
    var forbidsPassingOver = false

    /// The commands that bring a new engine to what was asked for.
    var commands: [EngineCommand] {
        Rendition.MediaType.allCases.compactMap { type in
            if disabledTracks[type] != nil { return .select(nil, type) }
            return choices[type].map { .select($0.option, type) }
        } + MediaType.allCases.filter(silencedTracks.contains).map { .setEnabled($0, false) }
    }

    /// What is played, as far as it is known, with what was chosen and the engine has yet to follow.
    func selection(over playback: PlaybackSnapshot) -> MediaSelection {
        var selection = playback.selection
        for (type, choice) in choices {
            let isThere = choice.option.map { option in
                playback.presentation.map { $0.group(type)?.option(option.id) != nil } ?? true
            }
            if isThere ?? true { selection[type] = choice.option }
        }
        for type in disabledTracks.keys { selection[type] = nil }
        return selection
    }
}
