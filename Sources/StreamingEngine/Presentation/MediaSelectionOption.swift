public import HLSPlaylist
public import ResourceAddressing

/// One thing that a viewer can choose: a language, a commentary, a camera.
///
/// The same choice may be there in several encodings, one for each group of renditions (RFC 8216bis §4.4.6.1.1); which of
/// them is played follows from the variant.
public struct MediaSelectionOption: Sendable, Hashable, Identifiable {
    /// What tells it from others, also after the playlist was loaded again.
    public struct ID: Sendable, Hashable {
        /// What it holds.
        public let type: Rendition.MediaType
        /// What people call it.
        public let name: String
        /// Its language as written, in lower case.
        public let language: String?
        /// Whether it must be shown to follow the film.
        public let isForced: Bool
        /// Which captions inside the video it is.
        public let instreamID: String?
        /// What is special about it, sorted.
        public let characteristics: [String]
    }

    /// One encoding of it.
    public struct Encoding: Sendable, Hashable {
        /// The group of renditions that it belongs to.
        public let groupID: String
        /// Its media playlist; `nil` where the variant itself carries it.
        public let address: ResourceAddress?
        /// The channels of sound.
        public let channels: AudioChannels?
        /// Bits in a sample of sound.
        public let bitDepth: Int64?
        /// Samples of sound a second.
        public let sampleRate: Int64?
        /// What names its address from one load of the playlist to the next.
        public let stableID: String?
    }

    /// What tells it from others.
    public let id: ID
    /// Its language as written (RFC 5646); `nil` where the playlist does not say.
    public let language: String?
    /// A language that goes with it: the one that is written where the other is spoken, say.
    public internal(set) var associatedLanguage: String?
    /// Whether it is taken when the viewer says nothing.
    public internal(set) var isDefault: Bool
    /// Whether it may be taken without being asked for, where it fits the viewer's settings.
    public internal(set) var isAutoselect: Bool
    /// Its encodings, one for each group, in the order of the playlist.
    public internal(set) var encodings: [Encoding]

    /// What it holds.
    public var type: Rendition.MediaType { id.type }
    /// What people call it.
    public var name: String { id.name }
    /// Whether it must be shown to follow the film: what is said in a foreign language, say.
    public var isForced: Bool { id.isForced }
    /// Which captions inside the video it is: `CC1` to `CC4` or `SERVICE1` to `SERVICE63`.
    public var instreamID: String? { id.instreamID }
    /// What is special about it, as uniform type identifiers, sorted.
    public var characteristics: [String] { id.characteristics }
    /// The most channels of sound that any encoding has.
    public var channelCount: Int64? { encodings.compactMap { $0.channels?.count }.max() }

    /// Its encoding in a group; `nil` where the group does not have it.
    public func encoding(in groupID: String) -> Encoding? { encodings.first { $0.groupID == groupID } }

    /// `nil` for a rendition of a type that the standard does not know.
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
    }
}

/// The choices of one type that a presentation offers, of which one is played at a time.
public struct MediaSelectionGroup: Sendable, Hashable {
    /// What its options hold.
    public let type: Rendition.MediaType
    /// The options in the order of the playlist, each once however many encodings it has.
    public internal(set) var options: [MediaSelectionOption]

    /// Whether nothing need be chosen: text can be off, pictures and sound cannot.
    public var allowsEmptySelection: Bool { type == .subtitles || type == .closedCaptions }
    /// The option that is taken when the viewer says nothing: the first that the playlist calls so.
    public var defaultOption: MediaSelectionOption? { options.first(where: \.isDefault) }

    /// The option with an identity; `nil` where there is none.
    public func option(_ id: MediaSelectionOption.ID) -> MediaSelectionOption? { options.first { $0.id == id } }

    /// Groups the renditions of a playlist by type, in the order of the types.
    static func groups(of renditions: [Rendition]) -> [MediaSelectionGroup] {
        var options: [MediaSelectionOption] = []
        var positions: [MediaSelectionOption.ID: Int] = [:]
        var members: Set<Member> = []
        for rendition in renditions {
            guard let option = MediaSelectionOption(rendition) else { continue }
            // A group has each choice once.
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
