package import MediaTiming
package import ResourceAddressing
import XMLReading

/// The elements of a manifest that another document replaces when the manifest is loaded (ISO/IEC 23009-1:2022 §5.5).
///
/// The caller loads each of the ``references``, passes its contents to ``resolve(_:with:)`` or ``discard(_:)``, and
/// repeats this until there are none. ``bytes`` then is the manifest with the remote elements in place.
///
/// Elements whose `xlink:actuate` is `onRequest`, the default, are replaced when they are needed: in a static
/// presentation at once, in a dynamic one when their period is about to begin. Until then they stay as they are.
package struct RemoteElements: Sendable {
    /// A reference to a remote element.
    package struct Reference: Sendable, Hashable {
        /// The URL of the document with the remote elements.
        package let address: ResourceAddress
        /// The index of the element in the document.
        fileprivate let element: Int
        /// The number of remote documents around it.
        fileprivate let level: Int
    }

    /// The URI that removes an element (§5.5.3).
    private static let resolveToZero = "urn:mpeg:dash:resolve-to-zero:2013"
    /// The maximum number of remote documents of a manifest; a period for each minute of a day has 1,440.
    private static let maximumCount = 2_000
    /// The maximum number of remote documents within each other.
    private static let maximumLevel = 4

    private var document: ManifestDocument
    private let limits: ManifestLimits
    private var remainingBytes: Int
    private var count = 0
    /// The start of a dynamic presentation, in seconds since 1970, with the time up to which elements are needed; `nil`
    /// if all are.
    private var horizon: (origin: MediaTime, end: MediaTime)?
    /// The time of day at which the next element is needed, in seconds since 1970; `nil` if there is none.
    package private(set) var nextDate: MediaTime?
    /// The time before the start of a period at which its elements are needed: 10 seconds.
    private static let lead = MediaTime(seconds: 10)
    /// The remote elements that have not been resolved, in document order.
    package private(set) var references: [Reference] = []

    /// Creates the list of the remote elements of a manifest.
    ///
    /// Elements that refer to `urn:mpeg:dash:resolve-to-zero:2013` are removed.
    ///
    /// - Parameters:
    ///   - manifest: The manifest.
    ///   - address: The URL of the manifest.
    ///   - date: The time of day, in seconds since 1970, which determines the elements of a dynamic presentation that are
    ///     needed; `nil` for all.
    ///   - limits: The maximum sizes of the manifest and its parts.
    /// - Throws: ``ManifestParsingError`` if the bytes are not well-formed or exceed a limit.
    package init(
        in manifest: Span<UInt8>,
        address: ResourceAddress?,
        at date: MediaTime? = nil,
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestParsingError) {
        document = try ManifestDocument(parsing: manifest, limits: limits)
        self.limits = limits
        remainingBytes = limits.byteCount
        remainingBytes -|= manifest.count
        let isDynamic =
            document.value(.type, of: document.root).map(ManifestNumber.trimmed)
            == MediaPresentation.Kind.dynamic.rawValue
        if isDynamic, let date,
            let origin = document.value(.availabilityStartTime, of: document.root).flatMap({ ManifestDate($0) })
        {
            horizon = (origin.sinceEpoch, date + Self.lead)
        }
        find(in: document.root, base: address, level: 0)
    }

    /// The manifest with the remote elements that were resolved.
    package var bytes: [UInt8] { document.bytes }

    /// Returns a Boolean value that indicates whether the bytes of a manifest may refer to remote elements.
    ///
    /// Most manifests do not, and need no further pass.
    package static func areUsed(in manifest: [UInt8]) -> Bool {
        // The name would have other bytes in UTF-16.
        let beginning = manifest.prefix(2)
        if beginning.contains(0) || beginning.elementsEqual([0xFE, 0xFF]) || beginning.elementsEqual([0xFF, 0xFE]) {
            return true
        }
        // The name of the attribute has a prefix, because it belongs to a namespace of its own.
        let name = Array(":href".utf8)
        let span = manifest.span
        var index = 0
        while index + name.count <= span.count {
            if span[index] == name[0], name.indices.allSatisfy({ span[index + $0] == name[$0] }) { return true }
            index += 1
        }
        return false
    }

    /// Replaces an element by the elements of a document that was loaded.
    ///
    /// The element is discarded as by ``discard(_:)`` if the bytes are not elements of its kind, or exceed a limit.
    ///
    /// - Parameters:
    ///   - reference: One of the ``references``.
    ///   - bytes: The contents of the document, which may have several elements and no root.
    /// - Returns: A Boolean value that indicates whether the element was replaced.
    @discardableResult
    package mutating func resolve(_ reference: Reference, with bytes: [UInt8]) -> Bool {
        guard let position = references.firstIndex(of: reference) else { return false }
        guard bytes.count <= remainingBytes, let remote = try? ManifestDocument(fragment: bytes, limits: limits) else {
            discard(reference)
            return false
        }
        let elements = remote.children(of: remote.root)
        let name = document.nodes[reference.element].name
        guard !elements.isEmpty, elements.allSatisfy({ remote.nodes[$0].name.local == name.local }),
            document.depth(of: reference.element) <= limits.depth
        else {
            discard(reference)
            return false
        }
        remainingBytes -|= bytes.count
        references.remove(at: position)
        let later = references
        references = []
        let copies = document.copy(
            elements.map { .element($0) },
            from: remote,
            replacing: [""],
            by: name.namespace
        )
        document.replace(reference.element, by: copies)
        for case .element(let copy) in copies { find(in: copy, base: reference.address, level: reference.level +| 1) }
        references += later
        return true
    }

    /// Leaves an element as it is, without its link, because the remote document cannot be loaded.
    package mutating func discard(_ reference: Reference) {
        references.removeAll { $0 == reference }
        removeLink(of: reference.element)
    }

    private mutating func removeLink(of element: Int) {
        for attribute in document.nodes[element].attributes
        where attribute.name.namespace == AttributeName.linkReference.namespace
            || attribute.name.local.hasPrefix("xlink:")
        {
            document.setAttribute(attribute.name, to: nil, of: element)
        }
    }

    /// Returns a Boolean value that indicates whether a remote element is loaded now.
    private mutating func isNeeded(_ element: Int) -> Bool {
        guard document.value(.linkActuate, of: element).map(ManifestNumber.trimmed) != "onLoad", let horizon else {
            return true
        }
        guard let start = start(ofPeriodAround: element), horizon.origin + start > horizon.end else { return true }
        let date = horizon.origin + start - Self.lead
        nextDate = min(nextDate ?? date, date)
        return false
    }

    /// Returns the declared start of the period that an element is or is part of.
    private func start(ofPeriodAround element: Int) -> MediaTime? {
        var current: Int? = element
        while let index = current {
            if document.nodes[index].name.local == ElementKind.period.rawValue {
                return document.value(.start, of: index).flatMap { ManifestDuration($0)?.time }
            }
            current = document.nodes[index].parent
        }
        return nil
    }

    /// Finds the links in an element and the elements within it.
    private mutating func find(in element: Int, base: ResourceAddress?, level: Int) {
        let link = document.value(.linkReference, of: element).map(ManifestNumber.trimmed)
        // Such an element is empty whatever the attribute says.
        if link == Self.resolveToZero { return document.replace(element, by: []) }
        guard let reference = link, isNeeded(element) else {
            for child in document.children(of: element) { find(in: child, base: base, level: level) }
            return
        }
        let address = base?.resolving(reference) ?? ResourceAddress(reference)
        count +|= 1
        guard address.isHTTP, level < Self.maximumLevel, count <= Self.maximumCount,
            document.nodes[element].parent != nil
        else { return removeLink(of: element) }
        // A link within an element that is replaced is not followed.
        references.append(Reference(address: address, element: element, level: level))
    }
}
