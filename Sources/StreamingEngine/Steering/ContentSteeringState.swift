import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing

/// The state of content steering: the loads of the steering manifest, and the choice of the pathway (RFC 8216bis §7).
struct ContentSteeringState: Sendable {
    private enum Phase {
        /// The presentation has no steering server, or one whose URL cannot be loaded.
        case off
        case waiting(until: Duration)
        case loading(request: Int)
        /// The server requires that it is not asked again in this session.
        case ended
    }

    /// The time for which a pathway is not preferred after a failure of its media.
    static let penaltyDuration = Duration.seconds(120)
    /// The maximum delay that a server may request with Retry-After, one day.
    private static let maximumServerDelay = Duration.seconds(86_400)

    private var phase = Phase.off
    /// The URL of the next manifest, without the parameters of a request.
    private var address = ResourceAddress("")
    /// The time between two loads, which the last manifest declared.
    private var interval = SteeringManifest.defaultTimeToLive
    /// The order of the pathways in the last manifest; empty before the first one.
    private var priority: [String] = []
    /// The times until which pathways are not preferred.
    private var penalties: [String: Duration] = [:]
    /// The pathway that is preferred now; `nil` before the first manifest, unless a pathway failed.
    private(set) var pathwayID: String?
    /// The pathway of the fetched variant that was reported last; `nil` before the first one.
    private(set) var reportedPathwayID: String?

    /// A Boolean value that indicates whether the presentation has a steering server.
    var isActive: Bool { if case .off = phase { false } else { true } }

    /// The time of the next load; `nil` if none is due.
    var nextLoad: Duration? { if case .waiting(let time) = phase { time } else { nil } }

    // MARK: Manifests

    /// Begins steering if the presentation has a steering server.
    mutating func open(_ presentation: Presentation, at now: Duration) {
        guard let server = presentation.contentSteering?.serverAddress,
            server.isHTTP || server.normalizedScheme == "data"
        else { return }
        address = server
        phase = .waiting(until: now)
    }

    /// Begins a load of the manifest if one is due.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - pathwayID: The pathway of the fetched variant.
    ///   - throughput: The estimated throughput; `nil` if it is unknown.
    ///   - nextRequest: A closure that returns the number of the request.
    /// - Returns: The number and the URL of the request; `nil` if none is due.
    mutating func beginLoad(
        at now: Duration,
        pathwayID: String?,
        throughput: BitRate?,
        nextRequest: () -> Int
    ) -> (request: Int, address: ResourceAddress)? {
        guard let nextLoad, nextLoad <= now else { return nil }
        let request = nextRequest()
        phase = .loading(request: request)
        guard address.isHTTP else { return (request, address) }
        var parameters: [QueryParameter] = []
        // The value of this parameter is a quoted string.
        if let pathwayID { parameters.append(QueryParameter(name: "_HLS_pathway", value: "\"\(pathwayID)\"")) }
        if let throughput {
            parameters.append(QueryParameter(name: "_HLS_throughput", value: "\(throughput.bitsPerSecond)"))
        }
        return (request, address.setting(parameters))
    }

    /// Ends a load of the manifest.
    ///
    /// After a failure, the manifest is loaded again when it expires, or as the server requests. With the status 410,
    /// the server requires that it is not asked again.
    ///
    /// - Returns: The manifest, or `nil` if it could not be loaded; `nil` also if the request is not in progress.
    mutating func endLoad(
        _ request: Int,
        with result: Result<SteeringManifest, StreamingError>,
        at now: Duration
    ) -> SteeringManifest? {
        guard case .loading(request) = phase else { return nil }
        switch result {
        case .success(let manifest):
            interval = manifest.timeToLive
            address = manifest.reloadAddress ?? address
            priority = manifest.pathwayPriority
            phase = .waiting(until: now + interval)
            return manifest
        case .failure(let error) where error.status == 410: phase = .ended
        case .failure(let error):
            let asked = error.status == 429 ? (error.cause as? TransportError)?.retryAfter : nil
            phase = .waiting(until: now + min(asked ?? interval, Self.maximumServerDelay))
        }
        return nil
    }

    // MARK: Pathways

    /// Records that media of a pathway failed, after which other pathways are preferred for some time.
    mutating func penalize(_ pathwayID: String, at now: Duration) {
        penalties = penalties.filter { $0.value > now }
        penalties[pathwayID] = now + Self.penaltyDuration
    }

    /// Chooses the pathway: the first one in the order of the manifest that exists and has not failed recently.
    ///
    /// Before the first manifest, the order is that of the presentation, and no pathway is chosen unless one failed.
    ///
    /// - Parameters:
    ///   - available: The pathways that exist, in the order of the presentation.
    ///   - now: The current time.
    /// - Returns: Whether the choice changed.
    mutating func choosePathway(among available: [String], at now: Duration) -> Bool {
        let known = priority.filter(available.contains)
        guard isActive, !known.isEmpty || !penalties.isEmpty else { return false }
        let ordered = known + available.filter { !known.contains($0) }
        let chosen = ordered.first { !isPenalized($0, at: now) } ?? ordered.first
        defer { pathwayID = chosen }
        return chosen != pathwayID
    }

    /// Returns the position of a pathway in the order of preference, 0 for the chosen one.
    func rank(of pathway: String, at now: Duration) -> Int {
        if pathway == pathwayID { return 0 }
        let position = priority.firstIndex(of: pathway) ?? priority.count
        return 1 + position + (isPenalized(pathway, at: now) ? priority.count + 1 : 0)
    }

    private func isPenalized(_ pathway: String, at now: Duration) -> Bool {
        penalties[pathway].map { $0 > now } ?? false
    }

    /// Records the pathway of the fetched variant.
    ///
    /// - Returns: The former pathway; `nil` if it has not changed.
    mutating func notePathway(_ pathwayID: String) -> String? {
        defer { reportedPathwayID = pathwayID }
        return reportedPathwayID == pathwayID ? nil : reportedPathwayID
    }
}
