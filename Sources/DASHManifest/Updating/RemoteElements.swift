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
///
/// The relative URLs of a remote element are relative to the manifest. In a local manifest, they would name local
/// files: there, only elements with an HTTP base URL are inserted, which they or the elements around them declare.
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
    /// A Boolean value that indicates whether relative URLs of the manifest name local files.
    private let isLocal: Bool
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
    /// The links as they are written, at most 16, that are not followed: those without an HTTP or HTTPS URL, and those
    /// that exceed the number or depth of remote documents.
    package private(set) var unsupportedLinks: [String] = []
    /// The URLs of the documents that were discarded because their relative URLs would name local files.
    package private(set) var localReferences: Set<ResourceAddress> = []
    private static let maximumUnsupportedLinkCount = 16
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
        isLocal = address.map { $0.normalizedScheme == "file" } ?? true
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
    /// The element is discarded as by ``discard(_:)`` if the bytes are not elements of its kind, or exceed a limit, and
    /// if their relative URLs would name local files, in which case its URL becomes one of the ``localReferences``.
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
        guard !isLocal || hasHTTPBase(reference.element, elements, in: remote) else {
            localReferences.insert(reference.address)
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

    /// Returns a Boolean value that indicates whether relative URLs have an HTTP base URL in all elements that replace
    /// one of a local manifest.
    ///
    /// The closest absolute base URL counts: that of the element that is inserted, or of the elements around it.
    private func hasHTTPBase(_ element: Int, _ elements: [Int], in remote: ManifestDocument) -> Bool {
        var outer: Bool?
        var current = document.nodes[element].parent
        while let index = current, outer == nil {
            outer = hasHTTPBase(index, in: document)
            current = document.nodes[index].parent
        }
        return elements.allSatisfy { hasHTTPBase($0, in: remote) ?? outer ?? false }
    }

    /// Returns a Boolean value that indicates whether all base URLs of an element are HTTP or HTTPS URLs; `nil` if none
    /// is absolute, and for elements whose base URLs do not count.
    private func hasHTTPBase(_ element: Int, in other: ManifestDocument) -> Bool? {
        let kind = kind(of: element, in: other)
        guard kind == .presentation || kind == .period || kind == .adaptationSet || kind == .representation else {
            return nil
        }
        let bases = other.children(of: element)
            .filter { self.kind(of: $0, in: other) == .baseURL }
            .map { ResourceAddress(ManifestNumber.trimmed(other.text(of: $0))) }
        return bases.contains(where: \.isAbsolute) ? bases.allSatisfy(\.isHTTP) : nil
    }

    /// Returns the element of the standard that an element of the manifest or of a remote document is; `nil` for those
    /// of other namespaces, which ``ManifestReader`` ignores too.
    private func kind(of element: Int, in other: ManifestDocument) -> ElementKind? {
        let name = other.nodes[element].name
        let namespaces = ["", ManifestReader.namespace, document.nodes[document.root].name.namespace]
        return namespaces.contains(name.namespace) ? ElementKind(rawValue: name.local) : nil
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
        else {
            if unsupportedLinks.count < Self.maximumUnsupportedLinkCount { unsupportedLinks.append(reference) }
            return removeLink(of: element)
        }
        // A link within an element that is replaced is not followed.
        references.append(Reference(address: address, element: element, level: level))
    }
}
