package import MediaTiming
package import ResourceAddressing
import XMLReading

/// A media presentation description: the manifest of a DASH presentation (ISO/IEC 23009-1:2022 §5.3.1).
///
/// A value retains all elements as they were read, including extensions; its properties are computed from them.
package struct MediaPresentation: Sendable {
    /// The type of a presentation, which determines whether its manifest may change.
    package enum Kind: String, Sendable, Hashable {
        /// All segments are available, and the manifest does not change.
        case `static`
        /// Segments become available over time, and the manifest may change.
        case dynamic
    }

    /// The `MPD` element.
    package let element: ManifestElement
    /// The URL from which the manifest was loaded, after all redirects, or `nil` if it is not known.
    package let address: ResourceAddress?
    /// The problems found in the manifest, in document order.
    package let diagnostics: [ManifestDiagnostic]
    /// The periods in document order.
    package let periods: [Period]
    /// The estimated memory that the elements of the manifest take, in bytes: linear in elements, attributes and text.
    package let memorySize: Int

    /// Creates a presentation by parsing a manifest as leniently as a player.
    ///
    /// The parser continues after mistakes if a player can still play a part of the presentation; ``diagnostics`` lists
    /// them. Entities, external resources and remote elements are never loaded.
    ///
    /// - Parameters:
    ///   - bytes: The manifest as an XML document.
    ///   - address: The URL from which it was loaded, the base of its relative references.
    ///   - limits: The maximum sizes of the manifest and its parts.
    /// - Throws: ``ManifestParsingError`` if the bytes are not a manifest or exceed a limit.
    /// - Complexity: O(*n*) in bytes.
    package init(
        parsing bytes: Span<UInt8>,
        address: ResourceAddress? = nil,
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestParsingError) {
        var reader = ManifestReader(limits: limits)
        do {
            try XMLDocumentParser.parse(bytes, limits: limits.xmlLimits, textFilter: .nonWhitespace, into: &reader)
        } catch {
            if let known = reader.error { throw known }
            throw ManifestParsingError(error)
        }
        if let error = reader.error { throw error }
        guard let root = reader.root else { throw .invalidXML(message: "there is no element", line: 0) }
        self.init(
            root,
            address: address,
            diagnostics: reader.finishedDiagnostics(),
            memorySize: reader.memorySize
        )
    }

    /// Creates a presentation from its root element.
    init(_ root: ManifestElement, address: ResourceAddress?, diagnostics: [ManifestDiagnostic], memorySize: Int) {
        element = root
        self.memorySize = memorySize
        self.address = address
        periods = Period.periods(of: root)
        self.diagnostics = diagnostics + Self.checks(of: root, periods: periods)
    }

    /// The manifest with its attributes and its first location only, which takes little memory.
    ///
    /// It tells when and where the next version of the manifest has to be loaded.
    package var withoutContents: MediaPresentation {
        var root = ManifestElement(
            name: element.name,
            kind: element.kind,
            attributes: element.attributes,
            line: element.line
        )
        root.children = Array(element.elements(.location).prefix(1))
        let attributes = root.attributes.reduce(0) { $0 +| $1.value.utf8.count }
        return MediaPresentation(
            root,
            address: address,
            diagnostics: [],
            memorySize: root.children.reduce(attributes) { $0 +| $1.text.utf8.count }
        )
    }

    /// The type of the presentation; values other than `dynamic` count as static.
    package var kind: Kind { element[.type].flatMap { Kind(rawValue: ManifestNumber.trimmed($0)) } ?? .static }
    /// The profiles that the manifest conforms to.
    package var profiles: [String] { element.items(.profiles) }
    /// The time at which the timeline of a dynamic presentation begins.
    package var availabilityStartTime: ManifestDate? { element.date(.availabilityStartTime) }
    /// The time at which the last segments become unavailable.
    package var availabilityEndTime: ManifestDate? { element.date(.availabilityEndTime) }
    /// The time at which this version of the manifest was published.
    package var publishTime: ManifestDate? { element.date(.publishTime) }
    /// The declared duration of the presentation.
    package var mediaPresentationDuration: MediaTime? { element.duration(.mediaPresentationDuration) }
    /// The minimum time between two loads of the manifest.
    package var minimumUpdatePeriod: MediaTime? { element.duration(.minimumUpdatePeriod) }
    /// The buffer duration that playback requires at the declared bandwidth.
    package var minimumBufferTime: MediaTime? { element.duration(.minBufferTime) }
    /// The duration of the sliding window of a dynamic presentation, or `nil` if segments stay available.
    package var timeShiftBufferDepth: MediaTime? { element.duration(.timeShiftBufferDepth) }
    /// The recommended distance from the live edge.
    package var suggestedPresentationDelay: MediaTime? { element.duration(.suggestedPresentationDelay) }
    /// The maximum duration of a segment.
    package var maximumSegmentDuration: MediaTime? { element.duration(.maxSegmentDuration) }
    /// The descriptors of clocks to synchronize with, in order of preference.
    package var clockSynchronizations: [Descriptor] { Descriptor.all(.clockSynchronization, in: element) }
    /// The addresses from which further versions of the manifest should be loaded.
    package var locations: [String] { element.elements(.location).map(\.trimmedText) }
    /// Returns the URL of the patch to the next version, or `nil` if the complete manifest has to be loaded (§5.15).
    ///
    /// - Parameter now: The time of day, in seconds since 1970; a patch is available for a limited time.
    /// - Returns: The URL, or `nil`.
    package func patchAddress(at now: MediaTime) -> ResourceAddress? {
        guard kind == .dynamic, element[.id] != nil, let published = publishTime?.sinceEpoch else { return nil }
        let available = element.elements(.patchLocation).first { location in
            guard !location.trimmedText.isEmpty else { return false }
            return location.decimal(.ttl).map { now <= published + $0 } ?? true
        }
        return available.map { address?.resolving($0.trimmedText) ?? ResourceAddress($0.trimmedText) }
    }
    /// The content steering of the presentation (ISO/IEC 23009-1:2022 K.3, ETSI TS 103 998).
    package var contentSteering: ManifestElement? {
        element.element(.contentSteering)
            ?? element.elements(.serviceDescription).lazy.compactMap { $0.element(.contentSteering) }.first
    }
    /// A Boolean value that indicates whether the manifest declares a DVB profile (ETSI TS 103 285).
    package var isDVB: Bool { profiles.contains { $0.hasPrefix("urn:dvb:dash:profile:") } }

    /// The duration of the presentation: declared, or the end of the last period; `nil` if it is not known.
    package var duration: MediaTime? { mediaPresentationDuration ?? periods.last?.end }

    private static func checks(of root: ManifestElement, periods: [Period]) -> [ManifestDiagnostic] {
        var result: [ManifestDiagnostic] = []
        if let type = root[.type], Kind(rawValue: ManifestNumber.trimmed(type)) == nil {
            result.append(
                ManifestDiagnostic(
                    line: root.line,
                    severity: .error,
                    code: .invalidType,
                    message: "type of MPD is “\(type.prefix(100))”, which counts as static",
                    section: "5.3.1.2"
                )
            )
        }
        if periods.isEmpty {
            result.append(
                ManifestDiagnostic(
                    line: root.line,
                    severity: .error,
                    code: .noPeriod,
                    message: "the manifest has no period",
                    section: "5.3.1.2"
                )
            )
        }
        for period in periods {
            var known: Set<String> = []
            for representation in period.adaptationSets.flatMap(\.representations) {
                guard let id = representation.id, !known.insert(id).inserted else { continue }
                result.append(
                    ManifestDiagnostic(
                        line: representation.element.line,
                        severity: .warning,
                        code: .duplicateRepresentation,
                        message: "the period has several representations with the id “\(id.prefix(100))”",
                        section: "5.3.5.2"
                    )
                )
                // One diagnostic for each period suffices to find all duplicates.
                break
            }
        }
        return result
    }
}
