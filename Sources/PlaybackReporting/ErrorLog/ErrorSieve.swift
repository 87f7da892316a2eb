/// Lets each failure through once: the one that ends playing is often reported when it happens and again as the end.
struct ErrorSieve: Sendable, Hashable {
    private var last: PlaybackErrorRecord?

    /// The failure that an event reports; `nil` for other events, and for the end by the failure reported last.
    mutating func record(of kind: PlaybackEvent.Kind) -> PlaybackErrorRecord? {
        switch kind {
        case .error(let record):
            last = record
            return record
        case .failedToPlayToEnd(let record):
            guard record != last else { return nil }
            last = record
            return record
        default:
            return nil
        }
    }
}
