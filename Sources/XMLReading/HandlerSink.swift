/// A sink that forwards the parser's events to a handler.
final class HandlerSink<Handler: XMLEventHandler>: XMLSink {
    private(set) var handler: Handler

    init(_ handler: Handler, limits: XMLDocumentParser.Limits, filter: XMLDocumentParser.TextFilter) {
        self.handler = handler
        super.init(limits: limits, filter: filter)
    }

    override func handleStartElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
        handler.startElement(name, attributes: attributes, line: line)
    }

    override func handleEndElement(_ name: XMLName) { handler.endElement(name) }

    override func handleText(_ text: String) { handler.handleText(text) }

    override var hasEnough: Bool { handler.isFinished }
}
