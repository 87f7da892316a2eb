/// Takes what an XML document says, in its order.
public protocol XMLEventHandler {
    /// An element begins.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - attributes: Its attributes, without declarations of namespaces.
    ///   - line: The line its tag ends in, from 1.
    mutating func startElement(_ name: XMLName, _ attributes: XMLAttributes, line: Int)

    /// An element ends; each that began and was read to its end is told once.
    mutating func endElement(_ name: XMLName)

    /// Text between two tags, whole, with references resolved.
    mutating func text(_ text: String)

    /// Whether reading may stop, asked behind each tag; the document counts as read then.
    var hasEnough: Bool { get }
}

extension XMLEventHandler {
    /// Takes no text.
    public mutating func text(_ text: String) {}

    /// Takes all there is.
    public var hasEnough: Bool { false }
}

/// A name with its namespace (W3C Namespaces in XML §2).
public struct XMLName: Sendable, Hashable {
    /// The namespace's identifier; empty without.
    public let namespace: String
    /// The name without a prefix; with it where the document does not declare what it stands for.
    public let local: String

    /// Makes a name.
    public init(_ local: String, in namespace: String = "") {
        self.namespace = namespace
        self.local = local
    }
}

/// The attributes of an element.
public struct XMLAttributes: Sendable {
    /// An attribute.
    public struct Attribute: Sendable, Hashable {
        /// Its name; without a prefix it has no namespace.
        public let name: XMLName
        /// Its value, with references resolved.
        public let value: String
    }

    /// All attributes, in the order of the document.
    public internal(set) var all: [Attribute] = []

    /// The value of the attribute without a namespace; `nil` where it is not there.
    public subscript(local: String) -> String? {
        for attribute in all where attribute.name.local == local && attribute.name.namespace.isEmpty {
            return attribute.value
        }
        return nil
    }

    /// The value of an attribute of a namespace; `nil` where it is not there.
    public subscript(local: String, in namespace: String) -> String? {
        for attribute in all where attribute.name.local == local && attribute.name.namespace == namespace {
            return attribute.value
        }
        return nil
    }
}
