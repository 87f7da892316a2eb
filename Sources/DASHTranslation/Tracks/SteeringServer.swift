import DASHManifest
import MediaTiming
import ResourceAddressing

/// The server that steers clients between locations, whose responses have the form that RFC 8216bis §7.1 defines
/// (ETSI TS 103 998 §5).
struct SteeringServer {
    /// A service location of the presentation, as a pathway of the playlists.
    struct Pathway {
        /// The identifier of the pathway.
        let id: String
        /// The service location, or `nil` if base URLs name none.
        let location: String?
        /// The position among the pathways, from 0.
        let position: Int

        /// Returns the name of a playlist file of the pathway.
        func fileName(_ name: String) -> String { position == 0 ? name : "pathway-\(position +| 1)-\(name)" }
        /// Returns the identifier of a rendition group of the pathway.
        func groupID(_ id: String) -> String { position == 0 ? id : "\(id)-pathway-\(position +| 1)" }
    }

    /// The maximum number of pathways, each of which has all playlists.
    private static let maximumPathwayCount = 4

    /// The URL of the server.
    let address: ResourceAddress
    /// The pathways, of which the first one is used at the start; never empty.
    let pathways: [Pathway]
    /// The number of service locations for which there is no pathway.
    let omittedCount: Int

    /// Creates the steering server of a presentation; `nil` if it has no content steering or names no server on the
    /// network.
    init?(_ presentation: MediaPresentation) {
        guard let element = presentation.contentSteering, !element.trimmedText.isEmpty else { return nil }
        let text = element.trimmedText
        address = presentation.address?.resolving(text) ?? ResourceAddress(text)
        guard address.isHTTP || !address.isAbsolute else { return nil }
        var locations = Self.locations(of: presentation)
        // The client begins at the default location.
        let initial = element[.defaultServiceLocation]
        if let initial, let index = locations.firstIndex(of: initial) {
            locations.remove(at: index)
            locations.insert(initial, at: 0)
        }
        guard !locations.isEmpty else {
            pathways = [Pathway(id: Self.identifier(initial ?? ""), location: nil, position: 0)]
            omittedCount = 0
            return
        }
        var ids: Set<String> = []
        let distinct = locations.filter { ids.insert(Self.identifier($0)).inserted }.prefix(Self.maximumPathwayCount)
        pathways = distinct.enumerated().map { position, location in
            Pathway(id: Self.identifier(location), location: location, position: position)
        }
        omittedCount = max(0, locations.count - distinct.count)
    }

    /// The maximum number of elements whose base URLs are read.
    private static let maximumElementCount = 10_000

    /// Returns the service locations of all base URLs, in the order of the manifest.
    private static func locations(of presentation: MediaPresentation) -> [String] {
        var known: Set<String> = []
        var result: [String] = []
        var elementCount = 0
        func read(_ element: ManifestElement) {
            elementCount +|= 1
            guard elementCount <= maximumElementCount else { return }
            for base in element.elements(.baseURL) {
                if let location = base[.serviceLocation], known.insert(location).inserted { result.append(location) }
            }
        }
        read(presentation.element)
        for period in presentation.periods where elementCount <= maximumElementCount {
            read(period.element)
            for set in period.adaptationSets {
                read(set.element)
                for representation in set.representations { read(representation.element) }
            }
        }
        return result
    }

    /// Returns the form of a service location that a pathway identifier allows (RFC 8216bis §4.4.6.2).
    private static func identifier(_ location: String) -> String {
        let allowed = location.utf8.prefix(64).filter { byte in
            PercentEncoding.unreservedBytes.contains(byte) && byte != UInt8(ascii: "~")
        }
        return allowed.isEmpty ? "." : String(decoding: allowed, as: UTF8.self)
    }
}

extension PresentationPlan {
    /// Returns the plan with the addresses at a service location; `nil` for no change.
    func relocated(to location: String?, in presentation: MediaPresentation) -> PresentationPlan {
        guard let location else { return self }
        var plan = self
        for index in plan.periods.indices {
            let period = plan.periods[index].period
            plan.setSections(
                plan.periods[index].sections.map { $0?.relocated(to: location, of: period, in: presentation) },
                ofPeriod: index
            )
        }
        return plan
    }
}

extension TrackSection {
    fileprivate func relocated(
        to location: String,
        of period: Period,
        in presentation: MediaPresentation
    ) -> TrackSection {
        guard let candidate else { return self }
        var moved = SegmentAddressing(
            of: candidate.representation,
            in: candidate.set,
            of: period,
            in: presentation,
            preferring: location
        )
        if let file = addressing.indexedFile { moved.setIndex(file) }
        return TrackSection(candidate: candidate, addressing: moved, range: range)
    }
}
