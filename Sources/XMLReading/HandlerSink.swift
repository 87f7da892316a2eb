/// A sink that forwards the parser's events to a handler.
final class HandlerSink<Handler: XMLEventHandler>: XMLSink {
    // Safe: see ``XMLSink/reader``.
    @exclusivity(unchecked) private var current: Handler

    init(_ handler: Handler, _ reader: XMLEventReader) {
        unsafe current = handler
        super.init(reader)
    }

    var handler: Handler { unsafe current }

    override func startElement(
        _ name: XMLEventReader.NameParts,
        attributes: XMLEventReader.Strings?,
        count: Int
    ) {
        unsafe reader.startElement(name, attributes: attributes, count: count, &current)
    }

    override func endElement(_ name: XMLEventReader.NameParts) { unsafe reader.endElement(name, &current) }
}
