/// A receiver of the events of an XML document, in document order.
package protocol XMLEventHandler {
    /// Handles the start of an element.
    ///
    /// - Parameters:
    ///   - name: The name of the element.
    ///   - attributes: The attributes of the element, without namespace declarations.
    ///   - line: The line in which the start tag ends, counted from 1.
    mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int)

    /// Handles the end of an element; called once for each element that was started and parsed completely.
    mutating func endElement(_ name: XMLName)

    /// Handles the complete text between two tags, with references resolved and CDATA sections included.
    mutating func handleText(_ text: String)

    /// A Boolean value that indicates whether parsing may stop.
    ///
    /// Checked after each tag. A document at which parsing was stopped is reported as read without an error.
    var isFinished: Bool { mutating get }

    /// The elements whose attributes the handler takes as numbers, or `nil` if there are none.
    ///
    /// It has an effect only if text that consists of white space is dropped.
    static var numberElement: XMLNumberElement? { get }

    /// Handles a series of empty elements whose attributes are numbers, in place of
    /// ``startElement(_:attributes:line:)`` and ``endElement(_:)`` for each of them.
    ///
    /// - Parameters:
    ///   - table: The numbers.
    ///   - name: The name of all elements, which has the local name of ``numberElement``.
    ///   - line: The line in which the last start tag ends, counted from 1.
    /// - Returns: `false` if the elements have to be handled in the usual way; the document is then read again from its
    ///   beginning, without such series.
    mutating func handleNumbers(_ table: XMLNumberTable, of name: XMLName, line: Int) -> Bool
}

extension XMLEventHandler {
    /// Ignores the text.
    package mutating func handleText(_ text: String) {}

    /// A Boolean value that indicates whether parsing may stop; `false` by default, so that all of the document is
    /// parsed.
    package var isFinished: Bool { false }

    /// `nil`, so that all elements are handled in the usual way.
    package static var numberElement: XMLNumberElement? { nil }

    /// Returns `false`.
    package mutating func handleNumbers(_ table: XMLNumberTable, of name: XMLName, line: Int) -> Bool { false }
}

/// An expanded name: a local name and its namespace (W3C Namespaces in XML §2).
package struct XMLName: Sendable, Hashable {
    /// The namespace name; empty if the name has no namespace.
    package let namespace: String
    /// The name without its prefix, or with it if the document does not declare the prefix.
    package let local: String

    /// Creates a name with the given local name and namespace.
    package init(_ local: String, in namespace: String = "") {
        self.namespace = namespace
        self.local = local
    }
}

/// The attributes of an element.
package struct XMLAttributes: Sendable {
    /// A single attribute.
    package struct Attribute: Sendable, Hashable {
        /// The name of the attribute; without a prefix it has no namespace.
        package let name: XMLName
        /// The value of the attribute, with references resolved.
        package let value: String

        /// Creates an attribute with the given name and value.
        package init(name: XMLName, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All attributes, in document order.
    package internal(set) var attributes: [Attribute] = []

    /// Returns the value of the attribute with the given local name and no namespace, or `nil` if it is missing.
    package subscript(local: String) -> String? {
        for attribute in attributes where attribute.name.local == local && attribute.name.namespace.isEmpty {
            return attribute.value
        }
        return nil
    }

    /// Returns the value of the attribute with the given local name and namespace, or `nil` if it is missing.
    package subscript(local: String, in namespace: String) -> String? {
        for attribute in attributes where attribute.name.local == local && attribute.name.namespace == namespace {
            return attribute.value
        }
        return nil
    }
}
