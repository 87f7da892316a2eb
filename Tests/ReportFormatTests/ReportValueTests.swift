import Foundation
import MediaTiming
import ReportFormat
import Testing

@Suite struct ReportValueTests {
    @Test func fieldsKeepTheirOrderAndNilFieldsAreOmitted() {
        let value = ReportValue.fields(["z": .integer(1), "a": nil, "m": .array([.bool(true), .strings(["x"])])])
        #expect(value.json == #"{"z":1,"m":[true,["x"]]}"#)
    }

    @Test func secondsKeepTheirDigits() throws {
        #expect(ReportValue.seconds(try #require(MediaTime(decimal: "109.74337"))).json == "109.74337")
        #expect(ReportValue.real(0.1).json == "0.1" && ReportValue.real(30).json == "30")
        #expect(ReportValue.real(.nan).json == "0")
    }

    @Test func everyStringIsEncodedAsValidJSON() throws {
        let text = "\u{0}\u{1F}\"\\/\n\r\t\u{7F}\u{2028}é😀</script>"
        let data = Data(ReportValue.object([.init(name: text, value: .string(text))]).json.utf8)
        let object = try #require(JSONSerialization.jsonObject(with: data) as? [String: String])
        #expect(object == [text: text])
    }

    @Test(arguments: TerminalTextTests.hidden)
    func hiddenCharacterIsEscapedInJSON(scalar: Unicode.Scalar, _: String) throws {
        let json = ReportValue.fields(["a": .string("x\(scalar)y")]).json
        #expect(json.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(json)")
        let object = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String])
        #expect(object["a"].map { Array($0.unicodeScalars) } == ["x", scalar, "y"])
    }
}
