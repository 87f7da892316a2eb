import MediaTransport
import ResourceAddressing

/// The renewal of the addresses of an item, which may expire while it is played, as signed addresses do.
///
/// If a server denies access to a playlist or a segment, the address of the item is loaded again, and its variants and
/// renditions are recognized by their attributes. Their playlists are then loaded from the new addresses, while what
/// is buffered is played.
struct AddressRenewal: Sendable {
    /// A kind of resource of a source.
    enum Resource: Sendable, Hashable {
        case playlist
        case segment
    }

    private struct Failure: Hashable {
        let identity: StreamSource.Identity
        let resource: Resource
    }

    private enum Phase {
        /// The addresses cannot be renewed: they are not those of a playlist.
        case impossible
        case idle
        /// The address of the item is loaded, for sources that cannot be loaded until then.
        case loading(request: Int, waiting: Set<StreamSource.Identity>)
    }

    /// The maximum number of consecutive renewals after which nothing could be loaded.
    private static let mostFruitlessRenewals = 3

    private var phase = Phase.impossible
    /// The failures that led to a renewal after which the same resource was not loaded.
    private var failures: Set<Failure> = []
    private var fruitlessCount = 0
    /// The locations of the variants in the latest version of the presentation; empty before the first renewal.
    private var locations: [Presentation.Variant.ID: [Presentation.Variant.Location]] = [:]
    /// The options in the latest version of the presentation; empty before the first renewal.
    private var options: [MediaSelectionOption.ID: MediaSelectionOption] = [:]

    /// The number of renewals so far, by which the sources of different renewals differ.
    private(set) var count = 0

    /// A Boolean value that indicates whether the address of the item is being loaded.
    var isLoading: Bool { if case .loading = phase { true } else { false } }

    /// Allows renewals, because the item is a playlist.
    mutating func enable() { phase = .idle }

    /// Returns a Boolean value that indicates whether a source cannot be loaded until the addresses are renewed.
    func isAwaited(by source: StreamSource) -> Bool {
        guard case .loading(_, let waiting) = phase else { return false }
        return waiting.contains(source.identity)
    }

    /// Decides whether the addresses are renewed after a failure.
    ///
    /// After a renewal that does not help, the same resource does not lead to another one.
    ///
    /// - Parameters:
    ///   - status: The status of the response; `nil` if there was none.
    ///   - resource: The kind of resource that failed.
    ///   - source: The source of the resource.
    ///   - nextRequest: A closure that returns the number of the next request.
    /// - Returns: `nil` if the failure must be handled otherwise; the number of the request to begin, or that of the
    ///   one that is in progress.
    mutating func begin(
        after status: Int?,
        of resource: Resource,
        from source: StreamSource,
        nextRequest: () -> Int
    ) -> Beginning? {
        guard let status, FailureCategory.mayIndicateExpiry(status: status) else { return nil }
        let failure = Failure(identity: source.identity, resource: resource)
        switch phase {
        case .impossible: return nil
        case .loading(let request, let waiting):
            failures.insert(failure)
            phase = .loading(request: request, waiting: waiting.union([source.identity]))
            return .joined
        case .idle:
            // A request that began before the last renewal says nothing about the new addresses.
            if source.renewal < count { return .isDone }
            guard fruitlessCount < Self.mostFruitlessRenewals, failures.insert(failure).inserted else { return nil }
            fruitlessCount += 1
            let request = nextRequest()
            phase = .loading(request: request, waiting: [source.identity])
            return .begun(request: request)
        }
    }

    /// The beginning of a renewal.
    enum Beginning: Sendable, Equatable {
        /// The address of the item must be loaded.
        case begun(request: Int)
        /// The address of the item is being loaded.
        case joined
        /// The addresses were renewed since the request began.
        case isDone
    }

    /// Ends a renewal.
    ///
    /// - Parameters:
    ///   - request: The number of the request.
    ///   - presentation: The new version of the presentation; `nil` if it could not be loaded.
    /// - Returns: Whether the request was in progress.
    mutating func end(_ request: Int, with presentation: Presentation?) -> Bool {
        guard case .loading(request, _) = phase else { return false }
        phase = .idle
        guard let presentation else { return true }
        count += 1
        let variants = presentation.variants + presentation.iFrameVariants
        locations = Dictionary(variants.map { ($0.id, $0.locations) }) { first, _ in first }
        options = Dictionary(presentation.groups.flatMap(\.options).map { ($0.id, $0) }) { first, _ in first }
        return true
    }

    /// Records that a resource was loaded.
    mutating func loaded(_ resource: Resource, from source: StreamSource) {
        guard source.renewal == count else { return }
        fruitlessCount = 0
        guard !failures.isEmpty else { return }
        failures.remove(Failure(identity: source.identity, resource: resource))
    }

    // MARK: Addresses

    /// Returns the current locations of a variant, as many as in the first version.
    func locations(of variant: Presentation.Variant) -> [Presentation.Variant.Location] {
        guard let current = locations[variant.id] else { return variant.locations }
        if current.map(\.pathwayID) == variant.locations.map(\.pathwayID) { return current }
        return variant.locations.map { former in current.first { $0.pathwayID == former.pathwayID } ?? former }
    }

    /// Returns the current version of an option.
    func current(_ option: MediaSelectionOption) -> MediaSelectionOption { options[option.id] ?? option }
}
