import Adaptation
public import Foundation
public import MediaTiming
public import MediaTransport
import ResourceAddressing
import Synchronization

/// The throughput of the networks that players have used, with which later items choose their first variant.
///
/// An item that plays over a network starts with the estimate of that network, unless
/// ``PlayerItem/initialThroughput`` is set, and adds its own estimate when it ends. Files and servers of this machine are
/// left out. Set ``Player/Environment/throughputHistory`` to a history with a file to remember networks between
/// launches.
public final class ThroughputHistory: Sendable {
    private struct State {
        var memory: ThroughputMemory
        /// The networks with estimates that are not yet in the file.
        var unsaved: [String: (rate: BitRate, date: Duration)] = [:]
    }

    private let store: ThroughputStore?
    private let network: @Sendable () -> String?
    private let state: Mutex<State>

    /// The history that players share unless their environment has another one; it is not written to a file.
    public static let shared = ThroughputHistory()

    /// Creates a history.
    ///
    /// This initializer blocks while it reads the file, which has at most 64 KiB.
    ///
    /// - Parameters:
    ///   - file: The file with the estimates of earlier launches, which does not have to exist; `nil` for no file.
    ///   - network: Returns a name for the current network that does not change between launches, or `nil` if it is
    ///     unknown; by default that of `NetworkIdentity`, which is known on Linux.
    public init(file: URL? = nil, network: @escaping @Sendable () -> String? = { NetworkIdentity.current }) {
        store = file.map { ThroughputStore(path: $0.path) }
        self.network = network
        state = Mutex(State(memory: store?.load() ?? ThroughputMemory()))
    }

    /// Returns the estimate for the current network; `nil` if there is none.
    ///
    /// - Parameter date: The current date, as the time since 1970-01-01 00:00:00 UTC.
    /// - Returns: The estimate, reduced if it is older than a day.
    public func estimate(at date: Duration) -> BitRate? {
        guard let network = network() else { return nil }
        return state.withLock { $0.memory.estimate(for: network, now: date) }
    }

    /// Stores the estimate of the current network in place of the earlier one.
    ///
    /// - Parameters:
    ///   - estimate: The throughput.
    ///   - date: The current date, as the time since 1970-01-01 00:00:00 UTC.
    public func record(_ estimate: BitRate, at date: Duration) {
        guard let network = network() else { return }
        state.withLock { state in
            state.memory.store(estimate, for: network, now: date)
            state.unsaved[network] = (estimate, date)
        }
    }

    /// Writes the estimates that were recorded since the last call to the file, with mode 0600; estimates that other
    /// processes wrote stay.
    ///
    /// This function blocks. Without a file it does nothing.
    ///
    /// - Throws: `TransportError` if the file cannot be written; the estimates are then written by the next call.
    public func save() throws {
        guard let store else { return }
        let unsaved = state.withLock { $0.unsaved }
        guard !unsaved.isEmpty else { return }
        var stored = store.load()
        for (network, estimate) in unsaved { stored.store(estimate.rate, for: network, now: estimate.date) }
        try store.save(stored)
        state.withLock { state in
            for (network, estimate) in unsaved where state.unsaved[network]?.date == estimate.date {
                state.unsaved[network] = nil
            }
        }
    }
}

extension ThroughputHistory {
    /// Returns whether media at an address is loaded over a network.
    static func covers(_ address: ResourceAddress) -> Bool {
        guard address.isHTTP, let host = address.host else { return false }
        return !HostName.isLoopback(host)
    }
}
