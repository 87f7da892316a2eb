public import HLSPlaylist
import MediaTiming

/// A filter of the renditions of a multivariant playlist.
struct RenditionFilter: Sendable {
    /// The name and value of the filter, for the error message.
    var name: String
    /// The types of renditions on which the filter has an effect.
    var types: Set<Rendition.MediaType>
    /// A closure that returns the property that the filter compares, for the error message.
    let property: @Sendable (Rendition) -> String
    /// A closure that returns whether a rendition of these types remains.
    let isIncluded: @Sendable (Rendition) -> Bool

    /// Returns a Boolean value that indicates whether the filter has an effect on a rendition.
    func isAffected(_ rendition: Rendition) -> Bool { rendition.type.map { types.contains($0) } ?? false }

    /// Returns a filter that has an effect only on one type of renditions.
    func limited(to type: Rendition.MediaType) -> RenditionFilter {
        var filter = self
        filter.types = [type]
        return filter
    }
}

extension RenditionFilter {
    /// Returns a filter by language ranges (RFC 4647).
    static func languages(_ languages: [String], of type: Rendition.MediaType, name: String) -> RenditionFilter {
        let ranges = LanguageRanges(languages)
        let property: @Sendable (Rendition) -> String = { $0.language ?? Rendition.undetermined }
        return RenditionFilter(
            name: "\(name) \(languages.joined(separator: ","))",
            types: [type],
            property: property,
            isIncluded: { ranges.includes(property($0)) }
        )
    }

    /// Returns a filter by the number of audio channels; renditions without `CHANNELS` remain if the range has no lower bound.
    static func channels(_ range: PartialRange<MediaTime>, value: String) -> RenditionFilter {
        RenditionFilter(
            name: "channels \(value)",
            types: [.audio],
            property: { rendition in rendition.channels.map { "\($0.count) channels" } ?? "no CHANNELS" },
            isIncluded: { rendition in
                rendition.channels.map { range.contains(MediaTime(seconds: $0.count)) } ?? (range.low == nil)
            }
        )
    }

    /// Returns a filter that preserves renditions with one of the given characteristics.
    static func characteristics(_ names: [String], of type: Rendition.MediaType) -> RenditionFilter {
        RenditionFilter(
            name: "characteristics \(names.joined(separator: ","))",
            types: [type],
            property: { $0.characteristics.isEmpty ? "none" : $0.characteristics.joined(separator: "+") },
            isIncluded: { rendition in rendition.characteristics.contains { names.contains($0) } }
        )
    }

    static func captionTypes(_ types: [CaptionType]) -> RenditionFilter {
        RenditionFilter(
            name: "caption-types \(types.map(\.rawValue).joined(separator: ","))",
            types: [.subtitles, .closedCaptions],
            property: { CaptionType($0)?.rawValue ?? "closed captions without a known INSTREAM-ID" },
            isIncluded: { rendition in CaptionType(rendition).map { types.contains($0) } ?? false }
        )
    }
}

/// A type of subtitles or closed captions.
public enum CaptionType: String, Sendable, Hashable, CaseIterable {
    /// Subtitles that are neither forced nor for the deaf and hard of hearing.
    case subtitles
    /// Subtitles with content that is essential to understand the media: `FORCED=YES`.
    case forced
    /// Subtitles for the deaf and hard of hearing: the characteristics `public.accessibility.transcribes-spoken-dialog` or
    /// `public.accessibility.describes-music-and-sound`.
    case sdh
    /// CEA-608 closed captions in the video: `CC1` to `CC4`.
    case cea608
    /// CEA-708 closed captions in the video: `SERVICE1` to `SERVICE63`.
    case cea708

    /// Creates the type of a rendition, or `nil` if it has no captions of a known type.
    public init?(_ rendition: Rendition) {
        switch rendition.type {
        case .subtitles where rendition.isForced: self = .forced
        case .subtitles where rendition.characteristics.contains(where: Self.sdhCharacteristics.contains): self = .sdh
        case .subtitles: self = .subtitles
        case .closedCaptions:
            guard let id = rendition.instreamID else { return nil }
            if id.hasPrefix("CC") {
                self = .cea608
            } else if id.hasPrefix("SERVICE") {
                self = .cea708
            } else {
                return nil
            }
        case .audio, .video, nil: return nil
        }
    }

    private static let sdhCharacteristics: Set<String> = [
        "public.accessibility.transcribes-spoken-dialog", "public.accessibility.describes-music-and-sound",
    ]
}

/// The groups of renditions, by type.
struct RenditionGroups {
    private struct Group: Hashable {
        let type: Rendition.MediaType
        let id: String
    }

    private var groups: Set<Group> = []

    /// Creates the groups of renditions.
    init(_ renditions: [Rendition]) {
        for rendition in renditions {
            if let type = rendition.type { groups.insert(Group(type: type, id: rendition.groupID)) }
        }
    }

    /// Creates the groups to which variants refer.
    init(of variants: [Variant]) {
        for variant in variants {
            for type in Rendition.MediaType.allCases {
                if let id = variant.groupID(type) { groups.insert(Group(type: type, id: id)) }
            }
        }
    }

    /// The types of the groups.
    var types: Set<Rendition.MediaType> { Set(groups.map(\.type)) }

    /// Returns the groups that are not in another set.
    func subtracting(_ others: RenditionGroups) -> RenditionGroups {
        var result = self
        result.groups.subtract(others.groups)
        return result
    }

    func contains(_ type: Rendition.MediaType, _ id: String) -> Bool { groups.contains(Group(type: type, id: id)) }

    func contains(_ rendition: Rendition) -> Bool { rendition.type.map { contains($0, rendition.groupID) } ?? false }
}

extension Rendition {
    /// The language that stands for renditions without one (RFC 5646 §4.1).
    fileprivate static let undetermined = "und"
}
