import MediaTiming
import XMLReading

/// A document that changes a manifest to its next version (ISO/IEC 23009-1:2022 §5.15, RFC 5261).
package struct ManifestPatch: Sendable {
    private let document: ManifestDocument
    /// The identifier of the manifest that the patch changes.
    package let presentationID: String
    /// The publish time of the version that the patch changes.
    package let originalPublishTime: String
    /// The publish time of the version that results.
    package let publishTime: String

    private static let namespace = "urn:mpeg:dash:schema:mpd-patch:2020"
    /// The maximum number of operations.
    private static let maximumOperationCount = 20_000
    /// The maximum number of elements that the operations of a patch visit together.
    private static let maximumVisitCount = 10_000_000

    /// Creates a patch by parsing it.
    ///
    /// - Throws: ``ManifestPatchError`` if the bytes are not a patch.
    package init(parsing bytes: Span<UInt8>, limits: ManifestLimits = ManifestLimits()) throws(ManifestPatchError) {
        do throws(ManifestParsingError) {
            document = try ManifestDocument(parsing: bytes, limits: limits)
        } catch {
            throw .unreadable(error)
        }
        let root = document.nodes[document.root]
        guard root.name.local == "Patch" else { throw .notAPatch(root: String(root.name.local.prefix(100))) }
        func value(_ name: String) -> String { root.attributes.first { $0.name.local == name }?.value ?? "" }
        presentationID = value("mpdId")
        originalPublishTime = value("originalPublishTime")
        publishTime = value("publishTime")
    }

    /// Applies the patch to the manifest for which it was made.
    ///
    /// - Parameters:
    ///   - manifest: The manifest as it was loaded, or as an earlier patch changed it.
    ///   - limits: The limits of the manifest.
    /// - Returns: The next version of the manifest.
    /// - Throws: ``ManifestPatchError`` if the patch is for another version, or one of its operations cannot be applied.
    package func applied(
        to manifest: Span<UInt8>,
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestPatchError) -> [UInt8] {
        var result: ManifestDocument
        do throws(ManifestParsingError) {
            result = try ManifestDocument(parsing: manifest, limits: limits)
        } catch {
            throw .unreadable(error)
        }
        try checkVersion(of: result)
        let operations = document.children(of: document.root)
        guard operations.count <= Self.maximumOperationCount else {
            throw .tooLarge(message: "there are more than \(Self.maximumOperationCount) operations")
        }
        var budget = Self.maximumVisitCount
        for operation in operations {
            try apply(operation, to: &result, budget: &budget, maximumDepth: limits.depth)
        }
        let bytes = result.bytes
        guard bytes.count <= limits.byteCount else {
            throw .tooLarge(message: "the manifest has more than \(limits.byteCount) bytes")
        }
        return bytes
    }

    private func checkVersion(of manifest: ManifestDocument) throws(ManifestPatchError) {
        let id = manifest.value(.id, of: manifest.root) ?? ""
        guard id == presentationID else {
            throw .differentVersion(message: "the id is “\(id.prefix(100))”, not “\(presentationID.prefix(100))”")
        }
        let published = manifest.value(.publishTime, of: manifest.root) ?? ""
        let isSame =
            published == originalPublishTime
            || ManifestDate(published).map { $0.sinceEpoch == ManifestDate(originalPublishTime)?.sinceEpoch } ?? false
        guard isSame else {
            throw .differentVersion(
                message: "it was published at “\(published.prefix(100))”, not “\(originalPublishTime.prefix(100))”"
            )
        }
    }

    // MARK: Operations

    private func apply(
        _ operation: Int,
        to manifest: inout ManifestDocument,
        budget: inout Int,
        maximumDepth: Int
    ) throws(ManifestPatchError) {
        let node = document.nodes[operation]
        let name = node.name.local
        func value(_ name: String) -> String? { node.attributes.first { $0.name.local == name }?.value }
        guard let text = value("sel"), let selector = NodeSelector(text) else {
            throw .unsupported(message: "the selector “\((value("sel") ?? "").prefix(100))” is not supported")
        }
        let found = selector.elements(in: manifest, budget: &budget)
        guard budget > 0 else { throw .tooLarge(message: "the operations visit too many elements") }
        guard found.count == 1, let element = found.first else {
            throw .notSelected(selector: String(text.prefix(200)), count: found.count)
        }
        // Operations that add to what others added could nest elements without end.
        guard manifest.depth(of: element) <= maximumDepth else {
            throw .tooLarge(message: "the elements are nested too deeply")
        }
        if let parent = manifest.nodes[element].parent { budget -|= manifest.nodes[parent].contents.count }
        if case .attribute(let attribute) = selector.target, name != "add",
            !manifest.nodes[element].attributes.contains(where: { $0.name.local == attribute })
        {
            throw .notSelected(selector: String(text.prefix(200)), count: 0)
        }
        switch name {
        case "add": try add(operation, value("type"), value("pos"), to: element, selector.target, &manifest)
        case "replace": try replace(operation, element, selector.target, &manifest)
        case "remove": try remove(element, selector.target, &manifest)
        default: throw .unsupported(message: "the operation \(name.prefix(100)) is not one of RFC 5261")
        }
    }

    /// Returns copies of the contents of an operation in the namespace of the manifest.
    private func contents(of operation: Int, for manifest: inout ManifestDocument) -> [ManifestDocument.Content] {
        manifest.copy(
            document.nodes[operation].contents,
            from: document,
            replacing: [Self.namespace, document.nodes[document.root].name.namespace, ""],
            by: manifest.nodes[manifest.root].name.namespace
        )
    }

    private func add(
        _ operation: Int,
        _ type: String?,
        _ position: String?,
        to element: Int,
        _ target: NodeSelector.Target,
        _ manifest: inout ManifestDocument
    ) throws(ManifestPatchError) {
        guard target == .element else { throw .unsupported(message: "nothing can be added to an attribute or text") }
        if let type {
            let name = String(type.dropFirst())
            guard type.hasPrefix("@"), Self.isAttributeName(name) else {
                throw .unsupported(message: "nodes of the type \(type.prefix(100)) cannot be added")
            }
            let value = document.text(of: operation)
            return manifest.setAttribute(Self.name(of: name), to: value, of: element)
        }
        let contents = contents(of: operation, for: &manifest)
        switch position {
        case nil: manifest.insert(contents, in: element, at: manifest.nodes[element].contents.count)
        case "prepend": manifest.insert(contents, in: element, at: 0)
        case "before", "after":
            guard let parent = manifest.nodes[element].parent, let index = manifest.position(of: element) else {
                throw .unsupported(message: "nothing can be added beside the root element")
            }
            manifest.insert(contents, in: parent, at: position == "after" ? index +| 1 : index)
        case let position?: throw .unsupported(message: "the position \(position.prefix(100)) is not one of RFC 5261")
        }
    }

    /// Returns a Boolean value that indicates whether a text is a name with which an attribute can be written: one of
    /// ASCII characters, with or without a prefix, that declares no namespace.
    private static func isAttributeName(_ text: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 2, !parts[0].elementsEqual("xmlns".utf8) else { return false }
        return parts.allSatisfy { part in
            part.first.map(isLetter) ?? false
                && part.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "-.".utf8.contains($0) }
        }
    }

    private static func name(of text: String) -> XMLName {
        if text.hasPrefix("xml:") {
            return XMLName(String(text.dropFirst(4)), in: "http://www.w3.org/XML/1998/namespace")
        }
        let known = AttributeName(rawValue: text)
        return XMLName(known?.localName ?? text, in: known?.namespace ?? "")
    }

    private func replace(
        _ operation: Int,
        _ element: Int,
        _ target: NodeSelector.Target,
        _ manifest: inout ManifestDocument
    ) throws(ManifestPatchError) {
        switch target {
        case .attribute(let name): set(name, to: document.text(of: operation), of: element, &manifest)
        case .text: manifest.setText(document.text(of: operation), of: element)
        case .element:
            guard document.children(of: operation).count == 1 else {
                throw .unsupported(message: "an element must be replaced by one element")
            }
            manifest.replace(element, by: contents(of: operation, for: &manifest))
        }
    }

    private func remove(
        _ element: Int,
        _ target: NodeSelector.Target,
        _ manifest: inout ManifestDocument
    ) throws(ManifestPatchError) {
        switch target {
        case .attribute(let name): set(name, to: nil, of: element, &manifest)
        case .text: manifest.setText("", of: element)
        case .element:
            guard manifest.nodes[element].parent != nil else {
                throw .unsupported(message: "the root element cannot be removed")
            }
            manifest.replace(element, by: [])
        }
    }

    private func set(_ name: String, to value: String?, of element: Int, _ manifest: inout ManifestDocument) {
        guard let found = manifest.nodes[element].attributes.first(where: { $0.name.local == name }) else { return }
        manifest.setAttribute(found.name, to: value, of: element)
    }
}
