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

    /// Creates a filter from conditions such as `bandwidth(900k...4M),codecs(hvc1)`.
    ///
    /// - Parameters:
    ///   - text: The conditions.
    ///   - track: The media type.
    /// - Throws: The first part that is invalid.
    init(_ text: String, of track: Track) throws(InvalidEditPart) {
        let known = ConditionDefinition.definitions(for: track)
        var conditions: [Condition] = []
        var rest = text[...]
        repeat {
            guard let open = rest.firstIndex(of: "("), let close = rest.firstIndex(of: ")"), open < close else {
                guard !conditions.isEmpty else { throw InvalidEditPart(value: text) }
                throw InvalidEditPart(name: Self.partName, value: String(rest), expected: Self.conditionForm)
            }
            let name = rest[..<open].filter { $0 != " " }
            let value = String(rest[rest.index(after: open)..<close])
            guard let definition = known.first(where: { $0.name == name }) else {
                let names = known.map(\.name).joined(separator: ", ")
                throw InvalidEditPart(name: "a name in the value", value: name, expected: "one of \(names)")
            }
            conditions.append(try definition.parse(value))
            rest = rest[rest.index(after: close)...]
            guard let separator = rest.first else { break }
            guard separator == "," else {
                throw InvalidEditPart(
                    name: "the end of a condition",
                    value: String(rest),
                    expected: "a comma and another condition"
                )
            }
            guard conditions.count < Self.maximumConditionCount else {
                throw InvalidEditPart(
                    name: "the number of conditions",
                    value: "\(Self.maximumConditionCount + 1)",
                    expected: "at most \(Self.maximumConditionCount)"
                )
            }
            rest = rest.dropFirst()
        } while true
        self.track = track
        self.conditions = conditions
    }

    private static let partName = "a condition"
    private static let conditionForm = "NAME(VALUE)"
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
    private let condition: @Sendable (String) -> TrackFilter.Condition?
    private let invalidPart: @Sendable (String) -> InvalidEditPart

    init<Value>(
        _ name: String,
        _ type: EditValueType<Value>,
        _ filter: @escaping @Sendable (Value) -> MultivariantFilter
    ) {
        self.name = name
        condition = { text in
            type.parse(text).map { TrackFilter.Condition(text: "\(name)(\(type.format($0)))", filter: filter($0)) }
        }
        invalidPart = { text in
            InvalidEditPart(
                name: name,
                value: type.invalidPart(text)?.value ?? text,
                expected: type.parameter?.form
            )
        }
    }

    /// Returns the condition with a value.
    ///
    /// - Throws: The value, or the part of it that is invalid.
    func parse(_ text: String) throws(InvalidEditPart) -> TrackFilter.Condition {
        guard let condition = condition(text) else { throw invalidPart(text) }
        return condition
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

    /// A condition for a media type, for messages about those of another form.
    static func example(for track: TrackFilter.Track) -> String {
        switch track {
        case .video: "max-height(720)"
        case .audio: "channels(6...)"
        case .subtitles: "languages(en)"
        }
    }
}

extension EditValueType where Value == TrackFilter {
    /// Conditions for the tracks of a media type, `NAME(VALUE)`, separated by commas.
    static func conditions(for track: TrackFilter.Track) -> EditValueType {
        let names = ConditionDefinition.names(for: track).joined(separator: ", ")
        let example = ConditionDefinition.example(for: track)
        return EditValueType(
            parameter: EditParameter(
                .conditions,
                placeholder: "CONDITIONS",
                form: "a list of conditions such as \(example), separated by commas, with the names \(names)"
            ),
            parse: { $0.utf8.count <= maximumConditionsLength ? try? TrackFilter($0, of: track) : nil },
            format: \.description,
            invalidPart: { text in
                guard text.utf8.count <= maximumConditionsLength else { return nil }
                do throws(InvalidEditPart) {
                    _ = try TrackFilter(text, of: track)
                    return nil
                } catch {
                    return error
                }
            }
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
