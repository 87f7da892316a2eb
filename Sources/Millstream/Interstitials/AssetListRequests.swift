import HLSPlaylist
import MediaTiming
import ResourceAddressing
import StreamingEngine

/// The asset lists of an item's interstitials: those that are being loaded, and those that were loaded and not yet played.
struct AssetListRequests: Sendable {
    /// The state of one list.
    enum Status: Sendable {
        /// A request with this number is on its way.
        case loading(request: Int)
        /// The list was loaded.
        case loaded(InterstitialAssetList)
        /// The list could not be loaded.
        case failed(PlayerError)
    }

    /// A list that the stream asks clients to load in advance (RFC 8216bis appendix F).
    private struct Preload: Sendable {
        let id: String
        let address: ResourceAddress
        /// The time from which the list may be loaded.
        let start: MediaTime
        /// The time after which loading it is pointless.
        let end: MediaTime
        /// The position of the interstitial; `nil` while it is unknown.
        let target: MediaTime?
        /// The position of the primary item at which the list is requested; `nil` before it was chosen.
        var requestTime: MediaTime?
    }

    private var statuses: [ResourceAddress: Status] = [:]
    private var preloads: [Preload] = []
    /// The position within the time that streams allow for loading in advance, from 0 to 1.
    private let preloadFraction: Double

    /// The maximum number of lists; more are not loaded in advance.
    private static let maximumPreloads = 8

    /// Creates the state of an item without lists.
    ///
    /// - Parameter preloadFraction: The position within the time that streams allow for loading in advance, from 0 to 1. It
    ///   differs from viewer to viewer, so that their requests do not arrive at once.
    init(preloadFraction: Double) { self.preloadFraction = preloadFraction }

    /// Returns the state of a list; `nil` for one that was not requested, or was cleared.
    subscript(address: ResourceAddress) -> Status? { statuses[address] }

    /// The requests that are on their way.
    var requests: [Int] {
        statuses.values.compactMap { if case .loading(let request) = $0 { request } else { nil } }.sorted()
    }

    /// Begins to load a list.
    mutating func begin(_ address: ResourceAddress, request: Int) { statuses[address] = .loading(request: request) }

    /// Accepts the response to a request.
    ///
    /// - Returns: The address of the list; `nil` if the response is no longer awaited.
    mutating func finish(
        request: Int,
        _ result: Result<InterstitialAssetList, PlayerError>
    ) -> ResourceAddress? {
        let found = statuses.first { if case .loading(request: request) = $0.value { true } else { false } }
        guard let address = found?.key else { return nil }
        switch result {
        case .success(let list): statuses[address] = .loaded(list)
        case .failure(let error): statuses[address] = .failed(error)
        }
        return address
    }

    /// Removes a list.
    ///
    /// - Returns: The state that it had.
    mutating func remove(_ address: ResourceAddress) -> Status? { statuses.removeValue(forKey: address) }

    // MARK: Loading in advance

    /// Accepts the date ranges of the stream, and removes the lists that neither they nor events refer to.
    ///
    /// - Parameters:
    ///   - ranges: The date ranges whose instructions to load in advance are followed.
    ///   - events: The events that are scheduled.
    /// - Returns: The requests that are no longer needed.
    mutating func update(_ ranges: [TimedDateRange], _ events: [InterstitialEvent]) -> [Int] {
        let times = Dictionary(preloads.map { ($0.id, $0.requestTime) }) { first, _ in first }
        let starts = Dictionary(ranges.map { ($0.id, $0.start) }) { first, _ in first }
        preloads = ranges.compactMap { range in
            guard let instruction = range.range.preload, instruction.targetClass == Interstitial.classIdentifier,
                let start = range.start, let endDate = range.endDate
            else { return nil }
            return Preload(
                id: range.id,
                address: instruction.address,
                start: start,
                end: start + (endDate.sinceEpoch - range.startDate.sinceEpoch),
                target: starts[instruction.targetID] ?? nil,
                requestTime: times[range.id] ?? nil
            )
        }
        var addresses = Set(preloads.map(\.address))
        for event in events {
            if case .list(let address) = event.content { addresses.insert(address) }
        }
        let before = requests
        statuses = statuses.filter { addresses.contains($0.key) }
        let remaining = requests
        return before.filter { !remaining.contains($0) }
    }

    /// Returns the lists to request now, at a position of a live item.
    ///
    /// The time of each request is chosen within the time that the stream allows.
    mutating func duePreloads(at position: MediaTime) -> [ResourceAddress] {
        var due: [ResourceAddress] = []
        for index in preloads.indices {
            let preload = preloads[index]
            // A list is not needed after its time, or after the position of its interstitial.
            guard preload.end + MediaTime(seconds: 1) > position, preload.target.map({ $0 > position }) ?? true else {
                continue
            }
            let time = preload.requestTime ?? requestTime(of: preload, at: position)
            preloads[index].requestTime = time
            guard time <= position, statuses[preload.address] == nil, !due.contains(preload.address),
                statuses.count + due.count < Self.maximumPreloads
            else { continue }
            due.append(preload.address)
        }
        return due
    }

    private func requestTime(of preload: Preload, at position: MediaTime) -> MediaTime {
        let first = max(preload.start, position)
        // No later than it would be loaded anyway.
        let last = max(first, preload.target.map { min(preload.end, $0 - .interstitialLeadTime) } ?? preload.end)
        return first + (MediaTime(approximating: (last - first).seconds * preloadFraction) ?? .zero)
    }

    /// Returns the next position at which a list is to be requested.
    func nextPreload(after position: MediaTime) -> MediaTime? {
        preloads.compactMap(\.requestTime).filter { $0 > position }.min()
    }
}

extension MediaTime {
    /// The time before an interstitial at which it is prepared at the latest.
    static let interstitialLeadTime = MediaTime(seconds: 5)
}
