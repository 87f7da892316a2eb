import MediaTiming
import Synchronization

/// A budget for the metadata of a recording, which all of its renditions share.
final class MetadataBudget: Sendable {
    /// The maximum size of the tags of date ranges and of unknown tags, as in players.
    static let maximumSize = 32 << 20

    private let limit: Int
    private let state = Mutex((size: 0, hasOmission: false, isReported: false))

    init(limit: Int = maximumSize) { self.limit = limit }

    /// The number of bytes that were added.
    var size: Int { state.withLock { $0.size } }

    /// Adds a number of bytes, which may be negative; returns `false`, and adds nothing, if they exceed the limit.
    func add(_ count: Int) -> Bool {
        state.withLock { state in
            let size = state.size +| count
            guard size <= limit else { return false }
            state.size = size
            return true
        }
    }

    /// Remembers that metadata is not recorded.
    func addOmission() { state.withLock { $0.hasOmission = true } }

    /// Returns a Boolean value that indicates whether metadata is not recorded and this was not reported yet.
    func takeOmission() -> Bool {
        state.withLock { state in
            guard state.hasOmission, !state.isReported else { return false }
            state.isReported = true
            return true
        }
    }
}
