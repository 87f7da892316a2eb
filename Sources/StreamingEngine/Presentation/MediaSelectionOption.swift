public import HLSPlaylist
public import ResourceAddressing

/// An option that a viewer can select, such as a language, a commentary or a camera angle.
///
/// An option may have several encodings, one for each rendition group (RFC 8216bis §4.4.6.1.1); the variant determines
/// which of them is played.
public struct MediaSelectionOption: Sendable, Hashable, Identifiable {
    /// The identity of an option, which is preserved when the playlist is reloaded.
    public struct ID: Sendable, Hashable {
        /// The type of the rendition.
        public let type: Rendition.MediaType
        /// The name for the user interface.
        public let name: String
        /// The language tag in lowercase.
        public let language: String?
        /// A Boolean value that indicates whether the subtitles are forced: essential for understanding the content.
        public let isForced: Bool
        /// The closed caption channel within the video.
        public let instreamID: String?
        /// The characteristics, sorted.
        public let characteristics: [String]
    }

    /// An encoding of an option.
    public struct Encoding: Sendable, Hashable {
        /// The identifier of the rendition group.
        public let groupID: String
        /// The URL of the media playlist, or `nil` if the media is muxed into the variant.
        public let address: ResourceAddress?
        /// The audio channels.
        public let channels: AudioChannels?
        /// The audio bit depth, in bits per sample.
        public let bitDepth: Int64?
        /// The audio sample rate, in samples per second.
        public let sampleRate: Int64?
        /// The stable identifier of the rendition (`STABLE-RENDITION-ID`).
        public let stableID: String?
    }

    /// The identity of the option.
    public let id: ID
    /// The language tag (RFC 5646) as written in the playlist, or `nil` if there is none.
    public let language: String?
    /// An associated language, for example a written language if it differs from the spoken one.
    public internal(set) var associatedLanguage: String?
    /// A Boolean value that indicates whether the option is selected if the viewer has no preference.
    public internal(set) var isDefault: Bool
    /// A Boolean value that indicates whether the option may be selected automatically if it matches the viewer's
    /// settings.
    public internal(set) var isAutoselect: Bool
    /// The encodings, one for each group, in the order of the playlist; empty for a track of a media file.
    public internal(set) var encodings: [Encoding]
    /// The track of a media file that the option selects; `nil` for a stream.
    package let fileTrack: FileTrack?

    /// The type of the rendition.
    public var type: Rendition.MediaType { id.type }
    /// The name for the user interface.
    public var name: String { id.name }
    /// A Boolean value that indicates whether the subtitles are forced, for example to translate dialog in a foreign
    /// language.
    public var isForced: Bool { id.isForced }
    /// The closed caption channel within the video: `CC1` to `CC4` or `SERVICE1` to `SERVICE63`.
    public var instreamID: String? { id.instreamID }
    /// The characteristics as uniform type identifiers, sorted.
    public var characteristics: [String] { id.characteristics }
    /// The maximum number of audio channels of any encoding.
    public var channelCount: Int64? { encodings.compactMap { $0.channels?.count }.max() }

    /// Returns the encoding in a rendition group, or `nil` if the group does not contain the option.
    public func encoding(in groupID: String) -> Encoding? { encodings.first { $0.groupID == groupID } }

    /// Creates an option for a rendition; `nil` if its type is not defined by RFC 8216bis.
    init?(_ rendition: Rendition) {
        guard let type = rendition.type else { return nil }
        id = ID(
            type: type,
            name: rendition.name,
            language: rendition.language?.lowercased(),
            isForced: rendition.isForced,
            instreamID: rendition.instreamID,
            characteristics: rendition.characteristics.sorted()
        )
        language = rendition.language
        associatedLanguage = rendition.associatedLanguage
        isDefault = rendition.isDefault
        isAutoselect = rendition.isAutoselect
        encodings = [
            Encoding(
                groupID: rendition.groupID,
                address: type == .closedCaptions ? nil : rendition.address,
                channels: rendition.channels,
                bitDepth: rendition.bitDepth,
                sampleRate: rendition.sampleRate,
                stableID: rendition.stableID
            )
        ]
        fileTrack = nil
    }

    /// Creates an option for a track of a media file.
    init(_ track: FileTrack, type: Rendition.MediaType, name: String, language: String?, isDefault: Bool) {
        id = ID(
            type: type,
            name: name,
            language: language?.lowercased(),
            isForced: false,
            instreamID: nil,
            characteristics: []
        )
        self.language = language
        associatedLanguage = nil
        self.isDefault = isDefault
        isAutoselect = true
        encodings = []
        fileTrack = track
    }
}

/// The options of one type in a presentation, of which at most one is played at a time.
public struct MediaSelectionGroup: Sendable, Hashable {
    /// The type of the renditions.
    public let type: Rendition.MediaType
    /// The options in the order of the playlist; an option with several encodings occurs once.
    public internal(set) var options: [MediaSelectionOption]

    /// A Boolean value that indicates whether no option may be selected: true for subtitles and closed captions.
    public var allowsEmptySelection: Bool { type == .subtitles || type == .closedCaptions }
    /// The first option that the playlist declares as the default, or `nil` if there is none.
    public var defaultOption: MediaSelectionOption? { options.first(where: \.isDefault) }

    /// Returns the option with an identity, or `nil` if there is none.
    public func option(_ id: MediaSelectionOption.ID) -> MediaSelectionOption? { options.first { $0.id == id } }

    /// Returns the renditions of a playlist grouped by type, in the order of the types.
    static func groups(of renditions: [Rendition]) -> [MediaSelectionGroup] {
        var options: [MediaSelectionOption] = []
        var positions: [MediaSelectionOption.ID: Int] = [:]
        var members: Set<Member> = []
        for rendition in renditions {
            guard let option = MediaSelectionOption(rendition) else { continue }
            // A rendition group contains each option only once.
            guard members.insert(Member(option: option.id, groupID: rendition.groupID)).inserted else { continue }
            if let position = positions[option.id] {
                options[position].encodings += option.encodings
                options[position].associatedLanguage = options[position].associatedLanguage ?? option.associatedLanguage
                options[position].isDefault = options[position].isDefault || option.isDefault
                options[position].isAutoselect = options[position].isAutoselect || option.isAutoselect
            } else {
                positions[option.id] = options.count
                options.append(option)
            }
        }
        return Rendition.MediaType.allCases.compactMap { type in
            let members = options.filter { $0.type == type }
            return members.isEmpty ? nil : MediaSelectionGroup(type: type, options: members)
        }
    }

    private struct Member: Hashable {
        let option: MediaSelectionOption.ID
        let groupID: String
    }
}
