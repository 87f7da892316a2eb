public import StreamingEngine

/// Date ranges as they come, change and go with the playlists of an item (`AVPlayerItemMetadataCollector`).
///
/// First those that are there, if any, then all of them whenever one of them changed. Whoever reads slowly misses what was
/// in between: new and modified is what is so since the last that was read. It ends when the item is gone.
public struct DateRangeUpdates: AsyncSequence, Sendable {
    /// All date ranges of an item, and which of them are news.
    public struct Collection: Sendable {
        /// Those that the playlist has now, in its order.
        public let ranges: [TimedDateRange]
        /// The positions of those that were not there before.
        public let newIndices: [Int]
        /// The positions of those that say something else than before.
        public let modifiedIndices: [Int]
    }

    /// What it gives.
    public typealias Element = Collection
    /// It never fails.
    public typealias Failure = Never

    let ranges: ValueUpdates<[TimedDateRange]>
    let isWanted: @Sendable (TimedDateRange) -> Bool

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator {
        Iterator(ranges: ranges.makeAsyncIterator(), isWanted: isWanted)
    }

    /// Gives date ranges whenever they are others.
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

        /// Waits for news.
        ///
        /// - Parameter actor: Where the caller is.
        /// - Returns: All of them; `nil` when there will be no more, and when cancelled.
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
    /// The date ranges of the stream from now on.
    ///
    /// - Parameters:
    ///   - identifiers: Only those with these names of attributes, such as `SCTE35-OUT` or `X-COM-EXAMPLE`; `nil`, the
    ///     default, for any.
    ///   - classes: Only those of these classes; `nil`, the default, for any.
    /// - Returns: What is there now, and whenever it changed.
    public func dateRangeUpdates(identifiers: Set<String>? = nil, classes: Set<String>? = nil) -> DateRangeUpdates {
        DateRangeUpdates(ranges: values(of: \.dateRanges)) { range in
            let isNamed = identifiers.map { range.hasAttribute(in: $0) } ?? true
            let isOfClass = classes.map { classes in range.classIdentifier.map(classes.contains) ?? false } ?? true
            return isNamed && isOfClass
        }
    }
}
