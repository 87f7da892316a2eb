public import StreamingEngine

/// An asynchronous sequence of the date ranges in the playlists of an item (`AVPlayerItemMetadataCollector`).
///
/// The first element contains the current date ranges, if there are any; each further element contains all date ranges
/// after a change. Elements that a slow reader misses are skipped: new and modified date ranges are relative to the
/// last element that was read. The sequence ends when the item is deallocated.
public struct DateRangeUpdates: AsyncSequence, Sendable {
    /// The date ranges of an item, with the changes since the previous element.
    public struct Collection: Sendable {
        /// The current date ranges, in the order of the playlist.
        public let ranges: [TimedDateRange]
        /// The indices of the date ranges that the previous element did not contain.
        public let newIndices: [Int]
        /// The indices of the date ranges whose attributes differ from the previous element.
        public let modifiedIndices: [Int]
    }

    /// The type of the elements.
    public typealias Element = Collection
    /// The type of errors; the sequence never throws.
    public typealias Failure = Never

    let ranges: ValueUpdates<[TimedDateRange]>
    let isWanted: @Sendable (TimedDateRange) -> Bool

    /// Creates an iterator, which begins with the current date ranges.
    public func makeAsyncIterator() -> Iterator {
        Iterator(ranges: ranges.makeAsyncIterator(), isWanted: isWanted)
    }

    /// An iterator over the date ranges of an item.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var ranges: ValueUpdates<[TimedDateRange]>.Iterator
        fileprivate let isWanted: @Sendable (TimedDateRange) -> Bool
        private var last: [TimedDateRange] = []

        fileprivate init(
            ranges: ValueUpdates<[TimedDateRange]>.Iterator,
            isWanted: @escaping @Sendable (TimedDateRange) -> Bool
        ) {
            self.ranges = ranges
            self.isWanted = isWanted
        }

        /// Waits for a change of the date ranges.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: All date ranges; `nil` if the item is deallocated or the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Collection? {
            while let all = await ranges.next(isolation: actor) {
                let wanted = all.filter(isWanted)
                guard wanted != last else { continue }
                let before = Dictionary(last.map { ($0.id, $0) }) { first, _ in first }
                last = wanted
                return Collection(
                    ranges: wanted,
                    newIndices: wanted.indices.filter { before[wanted[$0].id] == nil },
                    modifiedIndices: wanted.indices.filter { index in
                        before[wanted[index].id].map { $0 != wanted[index] } ?? false
                    }
                )
            }
            return nil
        }
    }
}

extension PlayerItem {
    /// Returns a sequence of the date ranges of the stream.
    ///
    /// - Parameters:
    ///   - identifiers: Attribute names, such as `SCTE35-OUT` or `X-COM-EXAMPLE`; only date ranges with at least one of
    ///     these attributes are included. `nil`, the default, includes all.
    ///   - classes: The values of `CLASS` to include; `nil`, the default, includes all.
    /// - Returns: The sequence, which begins with the current date ranges.
    public func dateRangeUpdates(identifiers: Set<String>? = nil, classes: Set<String>? = nil) -> DateRangeUpdates {
        DateRangeUpdates(ranges: values(of: \.dateRanges)) { range in
            let isNamed = identifiers.map { range.hasAttribute(in: $0) } ?? true
            let isOfClass = classes.map { classes in range.classIdentifier.map(classes.contains) ?? false } ?? true
            return isNamed && isOfClass
        }
    }
}
