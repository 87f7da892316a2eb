/// A sink that forwards the parser's events to a handler.
final class HandlerSink<Handler: XMLEventHandler>: XMLSink {
    private(set) var handler: Handler

    init(_ handler: Handler, limits: XMLDocumentReading.Limits, filter: XMLDocumentReading.TextFilter) {
        self.handler = handler
        super.init(limits: limits, filter: filter)
    }

    override func start(_ name: XMLName, _ attributes: XMLAttributes, line: Int) {
        handler.startElement(name, attributes, line: line)
    }

    override func end(_ name: XMLName) { handler.endElement(name) }

    override func tell(_ text: String) { handler.text(text) }

    override var hasEnough: Bool { handler.hasEnough }
}
