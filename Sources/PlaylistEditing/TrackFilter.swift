import HLSPlaylist
import MediaTiming

/// A filter of the tracks of one media type: conditions that are applied in order.
struct TrackFilter: Sendable {
    /// The media types for which there are conditions.
    enum Track: String, Sendable {
        case video, audio, subtitles
    }

    /// A condition with its value.
    struct Condition: Sendable {
        /// The name and the normalized value, `NAME(VALUE)`.
        let text: String
        let filter: MultivariantFilter
    }

    let track: Track
    let conditions: [Condition]

    /// Creates a filter from conditions such as `bandwidth(900k...4M),codecs(hvc1)`; `nil` if they are invalid.
    init?(_ text: String, of track: Track) {
        let known = ConditionDefinition.definitions(for: track)
        var conditions: [Condition] = []
        var rest = text[...]
        repeat {
            guard let open = rest.firstIndex(of: "("), let close = rest.firstIndex(of: ")"), open < close else {
                return nil
            }
            let name = rest[..<open].filter { $0 != " " }
            let value = String(rest[rest.index(after: open)..<close])
            guard let condition = known.first(where: { $0.name == name })?.condition(value) else { return nil }
            conditions.append(condition)
            rest = rest[rest.index(after: close)...]
            guard let separator = rest.first else { break }
            guard separator == ",", conditions.count < Self.maximumConditionCount else { return nil }
            rest = rest.dropFirst()
        } while true
        self.track = track
        self.conditions = conditions
    }

    /// The maximum number of conditions, each of which is a pass over the playlist.
    private static let maximumConditionCount = 8
}

extension TrackFilter: CustomStringConvertible {
    var description: String { conditions.map(\.text).joined(separator: ",") }
}

/// A filter of the variants or of the renditions of a multivariant playlist.
enum MultivariantFilter: Sendable {
    case variants(VariantFilter)
    case renditions(RenditionFilter)
}

/// The definition of a condition: its name, the type of its value and its filter.
private struct ConditionDefinition: Sendable {
    let name: String
    let condition: @Sendable (String) -> TrackFilter.Condition?

    init<Value>(
        _ name: String,
        _ type: EditValueType<Value>,
        _ filter: @escaping @Sendable (Value) -> MultivariantFilter
    ) {
        self.name = name
        condition = { text in
            type.parse(text).map { TrackFilter.Condition(text: "\(name)(\(type.format($0)))", filter: filter($0)) }
        }
    }

    /// The conditions for a media type, in the order in which documentation lists them.
    static func definitions(for track: TrackFilter.Track) -> [ConditionDefinition] {
        switch track {
        case .video: ofVideo
        case .audio: ofAudio
        case .subtitles: ofSubtitles
        }
    }

    private static let ofVideo: [ConditionDefinition] = {
        let hasVideo: VariantFilter.Condition = { !$0.hasOnlyAudio }
        return [
            ConditionDefinition("bandwidth", .bitRates) { .variants(.bandwidth($0).limited(to: hasVideo)) },
            ConditionDefinition("resolution", .resolutions) { .variants(.resolution($0).limited(to: hasVideo)) },
            ConditionDefinition("max-height", .heights) { .variants(.maxHeight($0).limited(to: hasVideo)) },
            ConditionDefinition("frame-rate", .frameRates) { .variants(.frameRate($0).limited(to: hasVideo)) },
            ConditionDefinition("video-range", .videoRanges) { names in
                .variants(.videoRange(names.map { VideoRange(rawValue: $0) }).limited(to: hasVideo))
            },
            ConditionDefinition("codecs", .codecPrefixes) { .variants(.codecs($0).limited(to: hasVideo)) },
            ConditionDefinition("drop-codecs", .codecPrefixes) { .variants(.dropCodecs($0).limited(to: hasVideo)) },
        ]
    }()

    private static let ofAudio: [ConditionDefinition] = [
        ConditionDefinition("bandwidth", .bitRates) { .variants(.bandwidth($0).limited(to: \.hasOnlyAudio)) },
        ConditionDefinition("codecs", .codecPrefixes) { .variants(.codecs($0).limited(to: \.hasAudioCodec)) },
        ConditionDefinition("drop-codecs", .codecPrefixes) { .variants(.dropCodecs($0).limited(to: \.hasAudioCodec)) },
        ConditionDefinition("languages", .languageRanges) {
            .renditions(.languages($0, of: .audio, name: "languages"))
        },
        ConditionDefinition("channels", .channelCounts) { range in
            .renditions(.channels(range, value: EditValueType.channelCounts.format(range)))
        },
        ConditionDefinition("characteristics", .characteristics) { .renditions(.characteristics($0, of: .audio)) },
    ]

    private static let ofSubtitles: [ConditionDefinition] = [
        ConditionDefinition("languages", .languageRanges) {
            .renditions(.languages($0, of: .subtitles, name: "languages"))
        },
        ConditionDefinition("types", .captionTypes) { names in
            .renditions(.captionTypes(names.compactMap { CaptionType(rawValue: $0) }).limited(to: .subtitles))
        },
        ConditionDefinition("characteristics", .characteristics) { .renditions(.characteristics($0, of: .subtitles)) },
    ]

    /// The names of the conditions for a media type.
    static func names(for track: TrackFilter.Track) -> [String] { definitions(for: track).map(\.name) }
}

extension EditValueType where Value == TrackFilter {
    /// Conditions for the tracks of a media type, `NAME(VALUE)`, separated by commas.
    static func conditions(for track: TrackFilter.Track) -> EditValueType {
        let names = ConditionDefinition.names(for: track).joined(separator: ", ")
        return EditValueType(
            parameter: EditParameter(
                .conditions,
                placeholder: "CONDITIONS",
                form: "a list of conditions NAME(VALUE), separated by commas, with the names \(names)"
            ),
            parse: { $0.utf8.count <= maximumConditionsLength ? TrackFilter($0, of: track) : nil },
            format: \.description
        )
    }

    private static var maximumConditionsLength: Int { 1_024 }
}

extension MultivariantPlaylist {
    /// Returns the playlist without the tracks of a media type that do not satisfy all conditions.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if none of that type would remain.
    func filtered(by filter: TrackFilter) throws(PlaylistEditError) -> MultivariantPlaylist {
        var result = self
        for condition in filter.conditions {
            switch condition.filter {
            case .variants(var variants):
                variants.name = "filter-\(filter.track.rawValue) \(condition.text)"
                result = try result.filteringVariants(variants)
            case .renditions(var renditions):
                renditions.name = "filter-\(filter.track.rawValue) \(condition.text)"
                result = try result.filteringRenditions(renditions)
            }
        }
        return result
    }
}

extension Variant {
    /// A Boolean value that indicates whether a codec of the variant is for audio.
    fileprivate var hasAudioCodec: Bool { codecs.contains { CodecList.mediaType(of: $0) == .audio } }
}
