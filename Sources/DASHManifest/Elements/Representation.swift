package import MediaTiming

/// One encoding of a track (ISO/IEC 23009-1:2022 §5.3.5).
///
/// The attributes that representations share with their adaptation set are taken from the set where they are missing.
package struct Representation: Sendable, Hashable {
    /// The `Representation` element.
    package let element: ManifestElement
    /// The attributes of the `AdaptationSet` element, which the representation inherits.
    private let inherited: InheritedAttributes
    /// The index among the representations of the adaptation set.
    package let index: Int

    /// The attributes and descriptors of an adaptation set that its representations inherit (§5.3.7).
    struct InheritedAttributes: Sendable, Hashable {
        fileprivate let values: [AttributeName: String]
        fileprivate let descriptors: [ElementKind: [Descriptor]]

        /// The maximum number of inherited descriptors of a kind.
        ///
        /// 64 is more than any set has, and all representations repeat them.
        private static let maximumDescriptorCount = 64

        /// Creates the attributes of a set, which all of its representations share.
        init(_ set: ManifestElement) {
            var values: [AttributeName: String] = [:]
            for name in inheritedNames { values[name] = set[name] }
            var descriptors: [ElementKind: [Descriptor]] = [:]
            for kind in inheritedKinds {
                let found = set.elements(kind, maximumCount: Self.maximumDescriptorCount)
                if !found.isEmpty { descriptors[kind] = found.map { Descriptor(element: $0) } }
            }
            self.values = values
            self.descriptors = descriptors
        }
    }

    private static let inheritedNames: [AttributeName] = [
        .mimeType, .codecs, .width, .height, .frameRate, .sar, .audioSamplingRate, .scanType, .contentType,
        .supplementalCodecs, .supplementalProfiles,
    ]
    private static let inheritedKinds: [ElementKind] = [
        .audioChannelConfiguration, .contentProtection, .essentialProperty, .supplementalProperty, .inbandEventStream,
    ]

    init(element: ManifestElement, inherited: InheritedAttributes, index: Int) {
        self.element = element
        self.index = index
        self.inherited = inherited
    }

    /// The maximum length of an attribute that is read, in bytes.
    ///
    /// Very many representations can inherit a longer one.
    private static let maximumLength = 1_024

    /// Returns the value of an attribute, or `nil` if it is missing or longer than 1,024 bytes.
    private func value(_ name: AttributeName) -> String? {
        (element[name] ?? inherited.values[name]).flatMap { $0.utf8.count <= Self.maximumLength ? $0 : nil }
    }

    /// Returns the descriptors of a kind, those of the adaptation set first.
    package func descriptors(_ kind: ElementKind) -> [Descriptor] {
        (inherited.descriptors[kind] ?? []) + Descriptor.all(kind, in: element)
    }

    /// The properties that a client must understand to use the representation, without those of the adaptation set.
    package var ownEssentialProperties: [Descriptor] { Descriptor.all(.essentialProperty, in: element) }

    /// The identifier, which `$RepresentationID$` stands for.
    package var id: String? { element[.id] }
    /// The declared bandwidth, in bits per second.
    package var bandwidth: BitRate? {
        element.unsigned(.bandwidth).map { BitRate(bitsPerSecond: $0) }
    }
    /// The MIME type of the segments.
    package var mimeType: String? { value(.mimeType).map(ManifestNumber.trimmed) }
    /// The codecs in the form of RFC 6381.
    package var codecs: [String] { value(.codecs).map { ManifestNumber.items($0, separator: ",") } ?? [] }
    /// The width of the video, in pixels.
    package var width: Int64? { positive(.width) }
    /// The height of the video, in pixels.
    package var height: Int64? { positive(.height) }
    /// The frames per second.
    package var frameRate: MediaTime? { value(.frameRate).flatMap(ManifestNumber.frameRate) }
    /// The samples per second of the audio.
    package var audioSamplingRate: Int64? {
        value(.audioSamplingRate).flatMap { ManifestNumber.items($0, separator: " ").first }
            .flatMap(ManifestNumber.integer)
    }
    /// The identifiers of the representations on which this one depends (§5.3.5.2).
    package var dependencies: [String] { element.items(.dependencyId, separator: " ") }
    /// The content protection schemes.
    package var contentProtections: [Descriptor] { descriptors(.contentProtection) }

    private func positive(_ name: AttributeName) -> Int64? {
        value(name).flatMap(ManifestNumber.integer).flatMap { $0 > 0 ? $0 : nil }
    }

    /// The codecs that enhance ``codecs`` on players that support them, each followed by a slash and the brand of its profile
    /// if the manifest names one (SCTE 214-1 §6.5).
    package var supplementalCodecs: [String] {
        let codecs = items(.supplementalCodecs)
        let profiles = items(.supplementalProfiles)
        return codecs.enumerated().map { index, codec in
            index < profiles.count ? "\(codec)/\(profiles[index])" : codec
        }
    }

    /// Returns the items of an attribute whose items are separated by commas or white space.
    private func items(_ name: AttributeName) -> [String] {
        let text = value(name) ?? ""
        return text.split { $0 == "," || $0.isWhitespace }.prefix(Self.maximumItemCount).map(String.init)
    }

    /// The maximum number of items of an attribute.
    private static let maximumItemCount = 16

    /// The media type that the MIME type, the codecs or the attributes name, or `nil` if none does.
    package var mediaType: AdaptationSet.MediaType? {
        Self.mediaType(mimeType: mimeType, codecs: codecs) ?? Self.mediaType(of: element)
    }

    /// Returns the media type that the attributes of an element name.
    static func mediaType(of element: ManifestElement) -> AdaptationSet.MediaType? {
        let named = mediaType(mimeType: element[.mimeType], codecs: element.items(.codecs))
        if let named { return named }
        if element[.width] != nil || element[.height] != nil || element[.frameRate] != nil { return .video }
        return element[.audioSamplingRate] != nil ? .audio : nil
    }

    private static func mediaType(mimeType: String?, codecs: [String]) -> AdaptationSet.MediaType? {
        let mimeType = mimeType?.lowercased() ?? ""
        let isText = codecs.contains { $0.hasPrefix("stpp") || $0.hasPrefix("wvtt") }
        if isText || textTypes.contains(mimeType) { return .text }
        return mimeType.split(separator: "/").first.flatMap { AdaptationSet.MediaType(rawValue: String($0)) }
            .flatMap { $0 == .application ? nil : $0 }
    }

    private static let textTypes: Set<String> = ["application/ttml+xml", "application/x-subrip", "text/vtt"]
}
