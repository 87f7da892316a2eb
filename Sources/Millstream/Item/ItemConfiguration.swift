import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine

/// The settings of an item that were requested by the application; they are stored while no engine plays the item.
struct ItemConfiguration: Sendable {
    /// The choice of the viewer for one type of rendition: an option or none.
    enum Choice: Sendable, Hashable {
        case option(MediaSelectionOption)
        case none

        var option: MediaSelectionOption? { if case .option(let option) = self { option } else { nil } }
    }

    /// A track that was disabled, and the option from which it was played.
    struct DisabledTrack: Sendable, Hashable {
        let track: PlaybackTrack
        let option: MediaSelectionOption
    }

    /// The options with which an engine is created.
    var options = StreamingOptions()
    /// The choices of the viewer; a type without a choice follows the selection rules.
    var choices: [Rendition.MediaType: Choice] = [:]
    /// The disabled tracks that have segments of their own.
    var disabledTracks: [Rendition.MediaType: DisabledTrack] = [:]

    /// The media types that are played without being rendered, since their segments contain other media too.
    var disabledMediaTypes: Set<MediaType> = []

    /// A Boolean value that indicates whether interstitials that the stream schedules are played.
    var automaticallyHandlesInterstitialEvents = true
    /// A Boolean value that indicates whether the playhead may advance only through playback, as an interstitial can
    /// require: forward seeks and forward steps are refused.
    var requiresLinearPlayback = false

    /// The commands that apply the choices and the disabled tracks to a new engine.
    var commands: [EngineCommand] {
        Rendition.MediaType.allCases.compactMap { type in
            if disabledTracks[type] != nil { return .select(nil, type) }
            return choices[type].map { .select($0.option, type) }
        } + MediaType.allCases.filter(disabledMediaTypes.contains).map { .setEnabled($0, false) }
    }

    /// Returns the media selection of the engine, with the choices that the engine has not yet applied.
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
