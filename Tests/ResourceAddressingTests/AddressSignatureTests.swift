import ResourceAddressing
import Testing

@Suite struct AddressSignatureTests {
    @Test(arguments: [
        // Amazon CloudFront, Amazon S3 and Google Cloud Storage.
        "Policy=e30_&Signature=ab~c_&Key-Pair-Id=K1", "Expires=1700000000&Signature=abc&Key-Pair-Id=K2",
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20240101T000000Z&X-Amz-Signature=0a",
        "X-Goog-Credential=a%40b&X-Goog-Expires=60&x-goog-signature=0a", "AWSAccessKeyId=A&Expires=1&Signature=b",
        // Akamai, Azure and web servers.
        "hdnts=st=1~exp=2~acl=/*~hmac=0a", "hdnea=exp=1~hmac=2", "hdntl=exp=1~data=hdntl~hmac=2",
        "sig=a%2Fb&se=2026-01-01T00%3A00%3A00Z&st=2025-12-31", "md5=0123456789abcdefghijkl&expires=2147483647",
        "st=0123456789abcdefghijkl&e=2147483647", "auth_key=1700000000-0-0-0a", "exp=1700000000&token=a.b.c",
        "fastly_token=0a_0b", "my%5Ftoken=x",
    ])
    func signaturesAreLeftOut(query: String) {
        let plain = ResourceAddress("https://h.example/Film%20a/main.m3u8")
        #expect(ResourceAddress("\(plain.text)?\(query)").withoutSignature == plain)
        let selecting = ResourceAddress("\(plain.text)?id=5&&B=%41;c=d#t=10")
        #expect(ResourceAddress("\(plain.text)?id=5&&B=%41;c=d&\(query)#t=10").withoutSignature == selecting)
        #expect(ResourceAddress("\(plain.text)?\(query)&id=5&&B=%41;c=d#t=10").withoutSignature == selecting)
    }

    @Test(arguments: [
        // These parameters can select what is returned.
        "id=5", "e=5", "e=0123456789abcdefghijkl", "st=120", "exp=vr", "et=12345678", "key=film", "code=ab", "user=a",
        "author=somebody", "session=1", "token", "hash=0123456789abcdefghijkl", "time=1700000000", "st=00000000000000",
        // A query can contain another address.
        "url=https%3A%2F%2Fa.example%2Fx%3Ftoken%3Dabc", "",
    ])
    func otherParametersRemain(query: String) {
        let address = ResourceAddress("https://h.example/main.m3u8?\(query)")
        #expect(address.withoutSignature == address)
    }

    @Test func onlyTheQueryHasSignatures() {
        for text in ["https://h.example/token=1/x", "https://h.example/x#token=a", "https://h.example/x#?token=a", ""] {
            #expect(ResourceAddress(text).withoutSignature.text == text)
        }
    }
}
