extension RandomAccessCollection where Index == Int {
    /// Returns the first index whose element satisfies `predicate`, or `endIndex` if none does.
    ///
    /// The search is binary: every element after the first match must satisfy `predicate` as well.
    package func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
