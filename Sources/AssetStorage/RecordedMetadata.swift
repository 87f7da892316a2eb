import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The date ranges of a rendition of a recording, each of which it has once, and the tags of segments that the standard does not
/// define.
struct RecordedMetadata {
    /// A change of the tag of a date range that is recorded already.
    struct Change {
        let former: String
        let text: String
        /// The index of the recorded segment that has the tag.
        let position: Int

        /// The number of bytes by which the catalog and the local playlist grow.
        var addedByteCount: Int { max(0, text.utf8.count - former.utf8.count) *| 2 }

        /// Applies changes to the catalog; the tags of one segment are changed together, because it can have many.
        static func apply(_ changes: [Change], to renditionID: Int64, _ database: Database) throws {
            for (position, changes) in Dictionary(grouping: changes, by: \.position) {
                let row = RecordedSegment.filter(Column("renditionID") == renditionID)
                    .filter(Column("position") == position)
                guard var segment = try row.fetchOne(database) else { continue }
                let texts = Dictionary(changes.map { ($0.former, $0.text) }, uniquingKeysWith: { _, last in last })
                let lines = segment.lines.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
                segment.lines = lines.map { texts[$0] ?? $0 }.joined(separator: "\n")
                try segment.update(database)
            }
        }
    }

    /// The tag of a date range.
    struct Line {
        let text: String
        /// A Boolean value that indicates whether the date range is an interstitial, which the package does not contain.
        let isInterstitial: Bool
    }

    private struct DateRangeEntry {
        /// The recorded tag.
        var text: String
        var position: Int
        /// The hash of the last tag at the origin that has other text than the recorded one.
        var latest: Int?

        /// Returns a Boolean value that indicates whether the recorded tag has the attributes of a tag at the origin already.
        func contains(_ text: String) -> Bool { text == self.text || text.hashValue == latest }
    }

    /// The date ranges by their identifiers.
    private var dateRanges: [String: DateRangeEntry] = [:]
    /// The size of the metadata of all renditions.
    private let budget: MetadataBudget
    /// The number of tags that were merged, which tests compare.
    private(set) var mergeCount = 0

    private static let tag = "#EXT-X-DATERANGE:"
    /// The maximum size of the tag of a date range, and of the unknown tags of a segment.
    static let maximumSize = 16 << 10
    /// The maximum number of date ranges of a rendition.
    private static let maximumCount = 100_000
    /// The attributes with the URL of an interstitial.
    private static let interstitialNames: Set = ["X-ASSET-URI", "X-ASSET-LIST"]
    /// The beginnings of the other tags of a recorded segment.
    private static let segmentTags = [
        "#EXT-X-DISCONTINUITY", "#EXT-X-KEY:", "#EXT-X-MAP:", "#EXT-X-PROGRAM-DATE-TIME:", "#EXT-X-GAP", "#EXTINF:",
        "#EXT-X-BYTERANGE:",
    ]

    init(_ budget: MetadataBudget) { self.budget = budget }

    /// Creates the metadata from the recorded date ranges.
    init(of renditionID: Int64, _ database: Database, _ budget: MetadataBudget) throws {
        self.init(budget)
        let rows = try RecordedSegment.filter(Column("renditionID") == renditionID).order(Column("position"))
            .fetchCursor(database)
        while let row = try rows.next() {
            for line in row.lines.split(separator: "\n") where Self.isMetadata(line) {
                // An earlier version may have recorded more.
                guard budget.add(line.utf8.count), line.hasPrefix(Self.tag), dateRanges.count < Self.maximumCount
                else { continue }
                let bytes = Array(line.utf8)
                guard let id = AttributeList(bytes, in: Self.tag.utf8.count..<bytes.count)["ID"] else { continue }
                dateRanges[id] = DateRangeEntry(text: String(line), position: row.position)
            }
        }
    }

    private static func isMetadata(_ line: Substring) -> Bool {
        line.hasPrefix("#EXT") && !segmentTags.contains { line.hasPrefix($0) }
    }

    /// Returns the date ranges of a version of the playlist that are new, or have other attributes than recorded.
    ///
    /// - Parameters:
    ///   - playlist: The playlist at the origin.
    ///   - segment: The first segment that is added; date ranges that ended before are not recorded.
    ///   - position: The index of the segment in the recording.
    ///   - checkCancellation: A function that is called before each date range.
    /// - Returns: The tags to add to the local playlist, and the changes of recorded tags.
    /// - Throws: The error of `checkCancellation`.
    mutating func newDateRanges(
        of playlist: MediaPlaylist,
        from segment: MediaSegment,
        at position: Int,
        _ checkCancellation: () throws -> Void = {}
    ) throws -> (lines: [Line], changes: [Change]) {
        var lines: [Line] = []
        var changes: [Change] = []
        // Two identifiers may be written as the same.
        var seen: Set<String> = []
        for range in playlist.dateRanges {
            try checkCancellation()
            let id = WrittenText.quoted(range.id)
            guard seen.insert(id).inserted else { continue }
            if dateRanges[id] != nil {
                if let change = change(of: id, to: range, in: playlist) { changes.append(change) }
                continue
            }
            let end = range.endDate ?? range.duration.flatMap { range.startDate?.advanced(by: $0) }
            if let end, let start = segment.programDateTime, end.sinceEpoch < start.sinceEpoch { continue }
            guard dateRanges.count < Self.maximumCount, let text = Self.text(of: range, in: playlist),
                budget.add(text.utf8.count)
            else {
                budget.addOmission()
                continue
            }
            dateRanges[id] = DateRangeEntry(text: text, position: position)
            let isInterstitial = range.attributes.contains { Self.interstitialNames.contains($0.name) }
            lines.append(Line(text: text, isInterstitial: isInterstitial))
        }
        return (lines, changes)
    }

    /// Returns the changes of recorded date ranges in a version of the playlist that has no new segment.
    ///
    /// - Throws: The error of `checkCancellation`, which is called before each date range.
    mutating func changedDateRanges(
        of playlist: MediaPlaylist,
        _ checkCancellation: () throws -> Void = {}
    ) throws -> [Change] {
        var changes: [Change] = []
        var seen: Set<String> = []
        for range in playlist.dateRanges {
            try checkCancellation()
            let id = WrittenText.quoted(range.id)
            guard seen.insert(id).inserted, let change = change(of: id, to: range, in: playlist) else { continue }
            changes.append(change)
        }
        return changes
    }

    /// Returns the change of a recorded date range; `nil` if there is none.
    private mutating func change(of id: String, to range: DateRange, in playlist: MediaPlaylist) -> Change? {
        guard let known = dateRanges[id] else { return nil }
        guard let text = Self.text(of: range, in: playlist) else {
            budget.addOmission()
            return nil
        }
        guard !known.contains(text) else { return nil }
        dateRanges[id]?.latest = text.hashValue
        mergeCount += 1
        let merged = Self.merging(known.text, with: text)
        guard merged != known.text else { return nil }
        guard merged.utf8.count <= Self.maximumSize, budget.add(merged.utf8.count - known.text.utf8.count) else {
            budget.addOmission()
            return nil
        }
        dateRanges[id]?.text = merged
        return Change(former: known.text, text: merged, position: known.position)
    }

    /// Returns a tag with the attributes of two: a playlist can lack the first of several tags of a date range, which has
    /// attributes that the others do not repeat.
    ///
    /// - Complexity: O(*n*) in the bytes of the tags.
    private static func merging(_ former: String, with text: String) -> String {
        func attributes(_ text: String) -> [AttributeList.Attribute] {
            let bytes = Array(text.utf8)
            return AttributeList(bytes, in: tag.utf8.count..<bytes.count).attributes
        }
        let new = attributes(text)
        let known = attributes(former)
        let newByName = Dictionary(new.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let knownNames = Set(known.map(\.name))
        // Another break may have the same identifier later.
        if let date = newByName["START-DATE"], let old = known.first(where: { $0.name == "START-DATE" }),
            date.value != old.value
        {
            return text
        }
        // The order is kept, so that nothing changes if no value does.
        let changed = known.map { newByName[$0.name] ?? $0 }
        let added = new.filter { !knownNames.contains($0.name) }
        let all = (changed + added).compactMap { WrittenText.attribute($0.name, $0.value, isQuoted: $0.isQuoted) }
        return tag + all.joined(separator: ",")
    }

    /// Returns the tag of a date range; `nil` if it is longer than ``maximumSize``.
    private static func text(of range: DateRange, in playlist: MediaPlaylist) -> String? {
        var text = tag
        for attribute in range.attributes {
            var value = playlist.substitutingVariables(attribute.value)
            let isAddress = interstitialNames.contains(attribute.name)
            if isAddress {
                value = WrittenText.uri(playlist.context.address?.resolving(value).text ?? value)
            }
            let isQuoted = attribute.isQuoted || isAddress || attribute.name == "ID"
            guard let written = WrittenText.attribute(attribute.name, value, isQuoted: isQuoted) else { continue }
            text += text.utf8.count == tag.utf8.count ? written : ",\(written)"
            guard text.utf8.count <= maximumSize else { return nil }
        }
        return text
    }

    /// Returns the tags of a segment that the standard does not define, such as the marks of breaks.
    func unknownTags(ofSegment position: Int, in playlist: MediaPlaylist) -> [String] {
        let lines = playlist.lines(ofSegment: position)
        // Tags before the last one of the header concern the playlist.
        let first = lines.lastIndex { line in line.tag.map { [.any, .mediaPlaylist].contains($0.scope) } ?? false }
        // Without its control characters, a tag could be one that the standard defines.
        let tags = lines[(first.map { $0 + 1 } ?? 0)...].filter { $0.tag == nil && !$0.isURI }
            .map { String(decoding: playlist.bytes[$0.text], as: UTF8.self) }
            .filter { $0.hasPrefix("#EXT") && WrittenText.line($0) == $0 }
        guard !tags.isEmpty else { return [] }
        let size = tags.reduce(0) { $0 +| $1.utf8.count }
        guard size <= Self.maximumSize, budget.add(size) else {
            budget.addOmission()
            return []
        }
        return tags
    }
}
