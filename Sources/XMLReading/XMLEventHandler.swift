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

    /// Returns a Boolean value that indicates whether elements of a name are offered to ``startElement(numbers:line:)``
    /// first.
    ///
    /// - Parameter name: The name of an element; each name is passed at least once.
    /// - Returns: `true` if attributes of such elements are read as numbers.
    func readsNumbers(of name: XMLName) -> Bool

    /// Handles the start of an element whose attributes are numbers, in place of
    /// ``startElement(_:attributes:line:)``.
    ///
    /// Elements within an element that was handled in this way are passed to ``startElement(_:attributes:line:)``.
    ///
    /// - Parameters:
    ///   - numbers: The attributes of the element, without namespace declarations.
    ///   - line: The line in which the start tag ends, counted from 1.
    /// - Returns: `false` if nothing was done, because the element has to be handled in the usual way.
    mutating func startElement(numbers: XMLNumbers, line: Int) -> Bool

    /// Handles the end of an element whose start ``startElement(numbers:line:)`` handled.
    mutating func endNumbers()
}

extension XMLEventHandler {
    /// Ignores the text.
    package mutating func handleText(_ text: String) {}

    /// A Boolean value that indicates whether parsing may stop; `false` by default, so that all of the document is
    /// parsed.
    package var isFinished: Bool { false }

    /// Returns `false`, so that all elements are handled in the usual way.
    package func readsNumbers(of name: XMLName) -> Bool { false }

    /// Returns `false`.
    package mutating func startElement(numbers: XMLNumbers, line: Int) -> Bool { false }

    /// Does nothing.
    package mutating func endNumbers() {}
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
